// Declares how rt reads keys from its terminal: modes and input.

export interface ConsoleOptions {
  /** The bytes are valid during the call only. */
  onKeys(keys: Uint8Array): void;
  /** The terminal is closed. */
  onEnd(): void;
}

export interface Console {
  /**
   * Sets the modes. "keys": without echo and line editing; Ctrl-C and Ctrl-Z still send signals. "raw": every byte is
   * input. "shell": as they were.
   */
  setMode(mode: "keys" | "raw" | "shell"): void;
  /** Restores the modes and stops reading. */
  close(): void;
}

export interface ConsoleOperations {
  /** Opens the terminal and begins to read keys. Returns undefined if rt has none, or is not in its foreground. */
  openConsole(options: ConsoleOptions): Console | undefined;
}
