// Following which files a script needs, where this system can; and the words of rt that are a part of that.
import type { TracingOperations } from "./contract/tracing.ts";

/** Undefined where there is no such thing. */
export async function findTracing(): Promise<TracingOperations | undefined> {
  if (process.platform !== "linux") return undefined;
  return (await import("./linux/tracing/tracer.ts")).operations;
}

/** What rt does where it was started as a part of the tracing; returns an exit code, if at all. */
export async function runTraced(words: readonly string[]): Promise<number> {
  if (process.platform !== "linux") return 2;
  return (await import("./linux/tracing/launcher.ts")).launchTraced(words);
}
