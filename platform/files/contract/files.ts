// What rt reads before the user's code runs: small files, synchronously, and cheaply.
//
// Contract: a file takes no more memory than its limit asks for, whatever stands behind its name: a link to /dev/zero, a
// file of terabytes that are not there, a pipe.

/** Bytes. What people write is smaller by far; rt answers "EFBIG" for more. */
export const LARGEST_FILE = 64 * 1024 * 1024;

export interface FileOperations {
  /**
   * The content of a file of up to `LARGEST_FILE` bytes, or of its first `limit` bytes; otherwise the system's error
   * code ("ENOENT", "EISDIR", "EACCES", ...). Needs no permission but to read, and maps nothing.
   */
  readFile(path: string, limit?: number): Uint8Array | string;
  /** Whether the kernel by itself starts a program that begins with these eight bytes; not a script. */
  isProgram(start: Uint8Array): boolean;
}

/** Who has a path. */
export interface PathOwner {
  readonly uid: number;
  readonly gid: number;
  /** What kind of file it is, and who may do what with it. */
  readonly mode: number;
}
