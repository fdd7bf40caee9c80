// Standing between a program and its terminal on Linux: with a monitor, so that the kernel can stop what runs there. Where
// nothing can be started from memory it is as on macOS.
import type { TerminalOperations } from "../contract/terminal.ts";
import { openStage } from "../posix/terminal.ts";
import { startMonitor } from "./job-monitor.ts";

export const operations: TerminalOperations = {
  hasTerminals: true,
  openStage: (places, descriptors) => openStage(places, descriptors, startMonitor),
};
