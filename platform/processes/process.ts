// Selects the process operations of this operating system. The build omits the other module.
import * as posix from "./posix/process.ts";
import type { ProcessOperations } from "./contract/process.ts";
import * as windows from "./windows/process.ts";

export const host: ProcessOperations = process.platform === "win32" ? windows.operations : posix.operations;
