// Selects the tracer of this operating system, if it has one.
import type { TracingOperations } from "./contract/tracing.ts";

/** The first Linux on which the listener reports that the process tree has ended. */
const FIRST_LINUX = [5, 9] as const;

/** Returns undefined if this system has no tracer. */
export async function findTracing(): Promise<TracingOperations | undefined> {
  found ??= hasTracing() ? import("./linux/tracer.ts") : undefined;
  return (await found)?.operations;
}

/** Memoized: a run of many scripts asks once for each. */
let found: Promise<typeof import("./linux/tracer.ts")> | undefined;

/** Returns whether this system has a tracer, without loading it. */
export function hasTracing(): boolean {
  if (process.platform !== "linux") return false;
  const [major = 0, minor = 0] = process.getBuiltinModule("node:os").release().split(".").map(Number);
  return major > FIRST_LINUX[0] || (major === FIRST_LINUX[0] && minor >= FIRST_LINUX[1]);
}
