// Ephemeral files on Linux: a memfd, whose path is valid only in the process that this one becomes. The engine closes inherited
// descriptors before it starts children.
import type { EphemeralFileOperations } from "../contract/ephemeral-file.ts";
import { openAnonymousFile } from "../posix/anonymous-file.ts";

export const operations: EphemeralFileOperations = {
  supportsEphemeralFiles: () => true,
  createEphemeralFile: (bytes) => ({ path: `/proc/self/fd/${openAnonymousFile(bytes)}` }),
};
