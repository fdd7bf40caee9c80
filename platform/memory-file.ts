// A file that is in memory and in no directory, for the program that this process becomes: it reads it by a path that means
// the file to that process alone. What that program starts does not inherit it. Linux has such files.
import * as posix from "./posix/nameless-file.ts";

export const HAS_MEMORY_FILES = process.platform === "linux";

/** The path. The descriptor stays open until the process ends. Throws an Error. */
export function writeMemoryFile(bytes: Uint8Array): string {
  const descriptor = posix.openNamelessFile();
  if (!posix.writeAt(descriptor, bytes, 0)) throw new Error("The memory file could not be written");
  return `/proc/self/fd/${descriptor}`;
}
