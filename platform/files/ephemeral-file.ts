// Selects how a text is passed to one program without a file in a directory (ephemeral file).
//
// Non-obvious: macOS has no implementation. The engine reads a configuration with pread, which pipes, sockets and terminals do not
// support, and macOS has no anonymous files with a path. On Windows the engine reads sequentially.
import type { EphemeralFileOperations } from "./contract/ephemeral-file.ts";
import * as linux from "./linux/ephemeral-file.ts";
import * as windows from "./windows/ephemeral-file.ts";

const none: EphemeralFileOperations = {
  supportsEphemeralFiles: () => false,
  createEphemeralFile() {
    throw new Error("Nothing can be handed on here");
  },
};

export const ephemeralFiles: EphemeralFileOperations =
  process.platform === "win32" ? windows.operations : process.platform === "linux" ? linux.operations : none;
