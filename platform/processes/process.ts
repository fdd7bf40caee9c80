// The process operations of this operating system. The build knows which it is and leaves the other module out.
import * as posix from "./posix/process.ts";
import type { ProcessOperations } from "./contract/process.ts";
import * as windows from "./windows/process.ts";

export const host: ProcessOperations = process.platform === "win32" ? windows.operations : posix.operations;
