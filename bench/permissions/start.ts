// Measures how much later a script starts with permissions: alone, and as one of many in a run. The comparison is the same run
// without permissions.
import { join } from "node:path";
import { copyPrograms, type TimedCommand, timeCommands } from "../processes.ts";
import type { Figure } from "../row.ts";

const RT = join(import.meta.dir, "..", "..", "dist", "rt");
const RUNS = 60;
const SCRIPTS = 40;

export async function measure(): Promise<Figure[]> {
  await using programs = await copyPrograms({ rt: RT });
  const { directory, paths } = programs;
  const names = Array.from({ length: SCRIPTS }, (_, index) => `many:${index}`);
  const scripts = Object.fromEntries(["one", ...names].map((name) => [name, "/bin/true"]));
  await Bun.write(join(directory, "package.json"), JSON.stringify({ scripts }));
  const command = (name: string, ...words: string[]): TimedCommand => ({
    name,
    argv: [paths.rt!, "--silent", "run", ...words],
  });
  /** @param starts number of started scripts in a run; all times are divided by it */
  const compare = (figure: string, words: readonly string[], starts: number, goal: number): Figure => {
    const sides = [command("with", "--permissions", ...words), command("without", ...words)];
    const [ours, peer] = timeCommands(sides, Math.ceil(RUNS / Math.sqrt(starts)), directory);
    const more = (ours!.median - peer!.median) / starts;
    const show = (time: number) => `${(time / starts).toFixed(2)} ms`;
    return {
      figure: `${figure}, milliseconds more : without`,
      ours: show(ours!.median),
      peer: show(peer!.median),
      ratio: more,
      goal: goal === Infinity ? "" : `<= ${goal}`,
      met: more <= goal,
    };
  };
  return [
    compare("start with permissions, each of 40 scripts", ["--sequential", "many:*"], SCRIPTS, 2),
    compare("start with permissions, in the scheduler", ["--parallel", "one"], 1, 2),
    compare("start with permissions, in place of replacing rt", ["one"], 1, Infinity),
  ];
}
