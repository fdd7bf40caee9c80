// Selects the console operations of this operating system. The build omits the other module.
import type { ConsoleOperations } from "./contract/console.ts";
import * as posix from "./posix/console.ts";
import * as windows from "./windows/console.ts";

export const consoles: ConsoleOperations =
  process.platform === "win32" ? windows.operations : posix.operations;
