// Variables as the libraries in this process see them: C's environment, of which the engine took a copy at its start. What
// the program starts gets the copy. Undefined on Windows, where each library has an environment of its own.
import * as posix from "./posix/libc-environment.ts";

/** Between the directories of a variable. */
export const LIST_SEPARATOR = process.platform === "win32" ? ";" : ":";

export const libraryVariables: typeof posix.operations | undefined =
  process.platform === "win32" ? undefined : posix.operations;
