// What rt does where it was started as a part of the tracing: it answers for what a script has left running.

/** The exit code. */
export async function runTraced(words: readonly string[]): Promise<number> {
  if (process.platform === "linux") return (await import("./linux/tracing/caretaker.ts")).takeCare(words);
  return 2;
}
