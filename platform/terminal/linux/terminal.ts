// Redacted programs on Linux: with a job monitor, so that the kernel can stop them (job control). If the system executes no memfd,
// they run as on macOS.
import type { TerminalOperations } from "../contract/terminal.ts";
import { prepareTerminal } from "../posix/terminal.ts";
import { startMonitor } from "./job-monitor.ts";

export const operations: TerminalOperations = {
  hasTerminals: true,
  prepareTerminal: (places, descriptors) => prepareTerminal(places, descriptors, startMonitor),
};
