// The contract of ephemeral files: a text that one program can read through a path, once, such as a configuration with credentials.

export interface EphemeralFile {
  /** The path to pass to the program. */
  readonly path: string;
  /** Sends the text to the started process, if the process cannot read it at the path without help. */
  serve?(pid: number): void;
}

export interface EphemeralFileOperations {
  /** Returns whether the engine can read such a file on this system. */
  supportsEphemeralFiles(): boolean;
  /**
   * Copies the bytes into an ephemeral file. Children of the program do not inherit it, and it disappears with this process at the
   * latest.
   *
   * @throws an Error
   */
  createEphemeralFile(bytes: Uint8Array): EphemeralFile;
}
