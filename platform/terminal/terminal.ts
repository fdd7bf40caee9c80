// Selects the terminal operations of this operating system. The build omits the other modules.
import type { TerminalOperations } from "./contract/terminal.ts";
import * as linux from "./linux/terminal.ts";
import * as posix from "./posix/terminal.ts";
import * as windows from "./windows/terminal.ts";

const NOT_WINDOWS = process.platform === "linux" ? linux.operations : posix.operations;

export const terminals: TerminalOperations = process.platform === "win32" ? windows.operations : NOT_WINDOWS;
