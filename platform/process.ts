// The process operations of this operating system, picked at build time: for exactly this form the bundler
// keeps one of the two modules and drops the other.
import type { ProcessOperations } from "./process-operations.ts";

export const host: ProcessOperations =
  process.platform === "win32" ? require("./windows/process.ts") : require("./posix/process.ts");
