// How a text gets to the program that this process becomes or starts, without a file in any directory.
//
// Surprising: macOS has no way. The engine reads a configuration at places of its own choice (pread), which neither a pipe nor a
// socket nor a terminal answers, and macOS has no files in memory. On Windows the engine reads on from where it is.
import type { HandedTextOperations } from "./contract/ephemeral-file.ts";
import * as linux from "./linux/ephemeral-file.ts";
import * as windows from "./windows/ephemeral-file.ts";

const none: HandedTextOperations = {
  canHandText: () => false,
  handText() {
    throw new Error("Nothing can be handed on here");
  },
};

export const handing: HandedTextOperations =
  process.platform === "win32" ? windows.operations : process.platform === "linux" ? linux.operations : none;
