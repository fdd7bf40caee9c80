// Windows has no console operations yet: its processes get pipes.
import type { ConsoleOperations } from "../contract/console.ts";

export const operations: ConsoleOperations = { openConsole: () => undefined };
