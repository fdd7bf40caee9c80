// Selects the tracer of this operating system, if it has one.
import type { TracingOperations } from "./contract/tracing.ts";

/** The first Linux on which the listener reports that the process tree has ended. */
const FIRST_LINUX = [5, 9] as const;

/** Returns whether this system has a tracer, without loading it. */
export function hasTracing(): boolean {
  if (process.platform !== "linux") return false;
  const [major = 0, minor = 0] = process.getBuiltinModule("node:os").release().split(".").map(Number);
  return major > FIRST_LINUX[0] || (major === FIRST_LINUX[0] && minor >= FIRST_LINUX[1]);
}

/** Loads the tracer. Only for a system that has one. */
export function loadTracing(): TracingOperations {
  return (require("./linux/tracer.ts") as typeof import("./linux/tracer.ts")).operations;
}
