// Following which files a script needs, where this system can.
import type { TracingOperations } from "./contract/tracing.ts";

/** The first Linux that tells when nobody is left who could make a call. */
const FIRST_LINUX = [5, 9] as const;

/** Undefined where there is no such thing. */
export async function findTracing(): Promise<TracingOperations | undefined> {
  if (process.platform === "linux") found ??= isRecent() ? import("./linux/tracer.ts") : undefined;
  return (await found)?.operations;
}

/** Looked for once: a run of many asks for each of its scripts. */
let found: Promise<typeof import("./linux/tracer.ts")> | undefined;

function isRecent(): boolean {
  const [major = 0, minor = 0] = process.getBuiltinModule("node:os").release().split(".").map(Number);
  return major > FIRST_LINUX[0] || (major === FIRST_LINUX[0] && minor >= FIRST_LINUX[1]);
}
