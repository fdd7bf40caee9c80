// Ephemeral files on Linux: a memfd, whose path is valid only in the process that this one becomes. The engine closes inherited
// descriptors before it starts children.
import type { EphemeralFileOperations } from "../contract/ephemeral-file.ts";
import { openAnonymousFile, writeAt } from "../posix/anonymous-file.ts";

export const operations: EphemeralFileOperations = {
  supportsEphemeralFiles: () => true,
  createEphemeralFile(bytes) {
    const descriptor = openAnonymousFile();
    if (!writeAt(descriptor, bytes, 0)) throw new Error("The memory file could not be written");
    return { path: `/proc/self/fd/${descriptor}` };
  },
};
