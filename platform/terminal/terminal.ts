// Standing between a program and its terminal on this operating system. The build knows which it is and leaves the other
// modules out.
import type { TerminalOperations } from "./contract/terminal.ts";
import * as linux from "./linux/terminal.ts";
import * as posix from "./posix/terminal.ts";
import * as windows from "./windows/terminal.ts";

const NOT_WINDOWS = process.platform === "linux" ? linux.operations : posix.operations;

export const terminals: TerminalOperations = process.platform === "win32" ? windows.operations : NOT_WINDOWS;
