// Entry point of the background supervisor, which answers notifications of processes that outlive the script.

/** Returns the exit code. */
export async function runTracerHelper(words: readonly string[]): Promise<number> {
  if (process.platform === "linux")
    return (await import("./linux/background-supervisor.ts")).superviseBackground(words);
  return 2;
}
