// What rt does where it was started as a part of the tracing. Each script that is followed begins with such a start, which has a
// chunk of the program for itself.

/** An exit code, if it returns at all. */
export async function runTraced(words: readonly string[]): Promise<number> {
  if (process.platform === "linux") return (await import("./linux/tracing/launcher.ts")).launchTraced(words);
  return 2;
}
