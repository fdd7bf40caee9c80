// The process trees of this operating system. The build knows which it is and leaves the other module out.
import * as posix from "./posix/process-tree.ts";
import type { ProcessTreeOperations } from "./contract/process-tree.ts";
import * as windows from "./windows/process-tree.ts";

export const trees: ProcessTreeOperations =
  process.platform === "win32" ? windows.operations : posix.operations;
