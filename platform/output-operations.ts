// What the reporters need of an operating system to write: never wait for a slow reader without an end.

export interface OutputOperations {
  /**
   * Writes what fits at once and returns how many bytes that was; 0 when the reader is not keeping up.
   * Throws an error with `code` ("EPIPE" when the reader is gone).
   */
  writeSome(descriptor: 1 | 2, bytes: Uint8Array): number;
  /** Waits until something can be written, at most `milliseconds`, blocking the thread. */
  awaitWritable(descriptor: 1 | 2, milliseconds: number): void;
}
