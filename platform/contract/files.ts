// What rt reads before the user's code runs: small files, synchronously, and cheaply.

export interface FileOperations {
  /**
   * The content of a file, or of its first `limit` bytes; otherwise the system's error code ("ENOENT",
   * "EISDIR", "EACCES", ...). Needs no permission but to read, and maps nothing.
   */
  readFile(path: string, limit?: number): Uint8Array | string;
  /** Whether the kernel by itself starts a program that begins with these eight bytes; not a script. */
  isProgram(start: Uint8Array): boolean;
}
