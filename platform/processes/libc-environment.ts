// Changes the environment that native libraries in this process see (getenv). The engine copies it at startup, and children
// receive that copy. Undefined on Windows, where each C library has a separate environment.
import * as posix from "./posix/libc-environment.ts";

/** Separator of directory lists in variables. */
export const LIST_SEPARATOR = process.platform === "win32" ? ";" : ":";

export const libraryVariables: typeof posix.operations | undefined =
  process.platform === "win32" ? undefined : posix.operations;
