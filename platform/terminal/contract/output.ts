// The contract of output: writes to standard output and error without blocking on a slow reader.

export interface OutputOperations {
  /**
   * Writes as many bytes as fit without blocking and returns their number; 0 if the reader is too slow.
   *
   * @throws an error with `code` ("EPIPE" if the reader is closed)
   */
  writeSome(descriptor: 1 | 2, bytes: Uint8Array): number;
  /** Blocks the thread until a write is possible, for at most `milliseconds`. */
  awaitWritable(descriptor: 1 | 2, milliseconds: number): void;
  /** Returns whether standard output and error are the same file or pipe. */
  areJoined(): boolean;
  /** Returns the current size of the terminal; null if it is unknown. */
  terminalSize(): { columns: number; rows: number } | null;
}
