// Selects the output operations of this operating system. The build omits the other module.
import type { OutputOperations } from "./contract/output.ts";
import * as posix from "./posix/output.ts";
import * as windows from "./windows/output.ts";

export const outputs: OutputOperations = process.platform === "win32" ? windows.operations : posix.operations;
