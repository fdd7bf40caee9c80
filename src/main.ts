// argv -> outcome -> exit code: the whole program in one reading, and the only place that ends the process.
//
// Surprising: there are four ways to a program's first line. `rt file.ts` and `rt run script` are what people start most,
// and each hundredth of a millisecond counts there, so file-start.ts, engine-start.ts (with switches of the engine) and
// script-start.ts carry them out without loading the command line. Everything else, and every doubt, goes through
// command-line.ts, which decides the same.
import type { Outcome } from "./cli/command-line.ts";

const { argv, argv0 } = process;
const outcome = await carryOut(argv.slice(2));
if (typeof outcome === "number") process.exit(outcome);
if (typeof outcome === "function") await outcome();
if (typeof outcome === "object") {
  const { host } = await import("../platform/process.ts");
  process.exit(host.dieOf(outcome.signal));
}

async function carryOut(words: readonly string[]): Promise<Outcome> {
  const way = mayStandIn() ? "command line" : wayOf(words);
  if (way === "file") {
    const { startFile } = await import("./cli/file-start.ts");
    if (await startFile(argv)) return;
  } else if (way === "engine") {
    const { startEngine } = await import("./cli/engine-start.ts");
    await startEngine(argv);
  } else if (way === "script") {
    const { startScript } = await import("./cli/script-start.ts");
    const ending = await startScript(words);
    if (ending !== undefined) return ending;
  }
  const { carryOutCommandLine } = await import("./cli/command-line.ts");
  return await carryOutCommandLine(words);
}

/** Whether rt may have been started by a link that makes it another program: see run/stand-in.ts. */
function mayStandIn(): boolean {
  return argv0.endsWith("node") || argv0.endsWith("bunx");
}

/** The way to try first, by the looks. */
function wayOf(words: readonly string[]): "file" | "engine" | "script" | "command line" {
  const isRun = words[0] === "run";
  const target = isRun ? words[1] : words[0];
  if (target === undefined) return "command line";
  if (target[0] !== "-") return !isRun && target.includes(".") ? "file" : "script";
  if (isRun || target[1] !== "-") return "command line";
  for (const word of words) if (word[0] !== "-") return word.includes(".") ? "engine" : "command line";
  return "command line";
}
