// Selects the process-tree operations of this operating system. The build omits the other module.
import * as posix from "./posix/process-tree.ts";
import type { ProcessTreeOperations } from "./contract/process-tree.ts";
import * as windows from "./windows/process-tree.ts";

export const trees: ProcessTreeOperations =
  process.platform === "win32" ? windows.operations : posix.operations;
