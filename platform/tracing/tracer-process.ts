// What rt does where it was started as a part of the tracing: it answers for what a script has left running.

/** The exit code. */
export async function runTracerHelper(words: readonly string[]): Promise<number> {
  if (process.platform === "linux")
    return (await import("./linux/background-supervisor.ts")).superviseBackground(words);
  return 2;
}
