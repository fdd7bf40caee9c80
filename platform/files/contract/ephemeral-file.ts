// What one program alone reads by a path, once, and no directory has: a configuration with credentials in it.

export interface EphemeralFile {
  /** What the program is told. */
  readonly path: string;
  /** Where the text does not wait at its path: gives it to the process of that number, which has just been started. */
  serve?(pid: number): void;
}

export interface HandedTextOperations {
  /** Whether the engine can read a text so here. */
  canHandText(): boolean;
  /**
   * The bytes are the caller's again when this returns. What the program starts inherits nothing of it, and at the end of
   * this process at the latest it is gone. Throws an Error.
   */
  handText(bytes: Uint8Array): EphemeralFile;
}
