// A text for the program that this process becomes: in a file in memory, by a path that means the file to that process alone.
// The engine closes what it has inherited before it starts anything.
import type { HandedTextOperations } from "../contract/ephemeral-file.ts";
import { openNamelessFile, writeAt } from "../posix/anonymous-file.ts";

export const operations: HandedTextOperations = {
  canHandText: () => true,
  handText(bytes) {
    const descriptor = openNamelessFile();
    if (!writeAt(descriptor, bytes, 0)) throw new Error("The memory file could not be written");
    return { path: `/proc/self/fd/${descriptor}` };
  },
};
