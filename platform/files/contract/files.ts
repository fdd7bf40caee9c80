// The contract of file reading before user code runs: small files, synchronously.
//
// Invariants:
// - Reading uses no more memory than the limit, also for /dev/zero, sparse files and pipes.

/** In bytes. Larger files fail with "EFBIG". */
export const MAX_FILE_SIZE = 64 * 1024 * 1024;

export interface FileOperations {
  /**
   * Returns the content of a file of up to `MAX_FILE_SIZE` bytes, or its first `limit` bytes; otherwise the system's error code
   * ("ENOENT", "EISDIR", "EACCES", ...). Needs only read permission, and maps nothing.
   */
  readFile(path: string, limit?: number): Uint8Array | string;
  /** Returns whether the kernel executes a file that begins with these eight bytes. False for scripts. */
  isProgram(start: Uint8Array): boolean;
}

export interface PathOwner {
  readonly uid: number;
  readonly gid: number;
  /** File type and permissions (`st_mode`). */
  readonly mode: number;
}
