// Selects the file locks of this operating system. The build omits the other module.
import type { FileLockOperations } from "./contract/file-lock.ts";
import * as posix from "./posix/file-lock.ts";
import * as windows from "./windows/file-lock.ts";

export const fileLocks: FileLockOperations =
  process.platform === "win32" ? windows.operations : posix.operations;
