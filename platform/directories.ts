// The directory operations of this operating system. The build knows which it is and leaves the other module out.
import type { DirectoryOperations } from "./contract/directories.ts";
import * as posix from "./posix/directories.ts";
import * as windows from "./windows/directories.ts";

export const directories: DirectoryOperations =
  process.platform === "win32" ? windows.operations : posix.operations;
