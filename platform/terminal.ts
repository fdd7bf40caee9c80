// Standing between a program and its terminal on this operating system. The build knows which it is and leaves the other
// module out.
import type { TerminalOperations } from "./contract/terminal.ts";
import * as posix from "./posix/terminal.ts";
import * as windows from "./windows/terminal.ts";

export const terminals: TerminalOperations =
  process.platform === "win32" ? windows.operations : posix.operations;
