// Selects the quick way to replace a small file: node:fs takes a millisecond to load.
import * as linux from "./linux/file-replacement.ts";

/**
 * Writes a file that only this user can read, by an atomic rename. Returns whether it was written. Undefined if the system has
 * no such way.
 */
export const replaceFile: ((path: string, content: Uint8Array) => boolean) | undefined =
  process.platform === "linux" ? linux.replaceFile : undefined;
