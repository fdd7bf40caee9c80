// What the reporters need of an operating system to write: never wait for a slow reader without an end.

export interface OutputOperations {
  /**
   * Writes what fits at once and returns how many bytes that was; 0 when the reader is not keeping up.
   * Throws an error with `code` ("EPIPE" when the reader is gone).
   */
  writeSome(descriptor: 1 | 2, bytes: Uint8Array): number;
  /** Waits until something can be written, at most `milliseconds`, blocking the thread. */
  awaitWritable(descriptor: 1 | 2, milliseconds: number): void;
  /** Whether standard output and error are one file or pipe. */
  areJoined(): boolean;
  /** The size of the terminal that standard output is, asked anew each time; null when it tells none. */
  terminalSize(): { columns: number; rows: number } | null;
}
