// Standing between a program and its terminal on Linux: with a monitor, so that the kernel can stop what runs there. Where
// nothing can be started from memory it is as on macOS.
import type { TerminalOperations } from "../contract/terminal.ts";
import { attend } from "../posix/terminal.ts";
import { openProgram } from "./native/memory-program.ts";

function openMonitor(): string | undefined {
  try {
    return openProgram("monitor");
  } catch {
    return undefined;
  }
}

export const operations: TerminalOperations = {
  hasTerminals: true,
  attend: (request) => attend(request, openMonitor),
};
