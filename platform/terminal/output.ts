// Writing on this operating system. The build knows which it is and leaves the other module out.
import type { OutputOperations } from "./contract/output.ts";
import * as posix from "./posix/output.ts";
import * as windows from "./windows/output.ts";

export const outputs: OutputOperations = process.platform === "win32" ? windows.operations : posix.operations;
