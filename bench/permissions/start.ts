// Measures how much later a script starts with permissions: alone, and as one of many in a run. The comparison is the same run
// without permissions.
import { join } from "node:path";
import { copyPrograms, type TimedCommand, timeCommands } from "../processes.ts";
import type { Figure } from "../row.ts";

const RT = join(import.meta.dir, "..", "..", "dist", "rt");
const RUNS = 60;
const SCRIPTS = 40;
/** Milliseconds. Each start has a listener, because the defaults decide connections. */
const GOAL = 2;

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
  const compare = (figure: string, words: readonly string[], runs: number): readonly [Figure, number[]] => {
    const sides = [command("with", "--permissions", ...words), command("without", ...words)];
    const medians = timeCommands(sides, runs, directory).map(({ median }) => median);
    return [figureOf(figure, medians), medians];
  };
  const [scheduled, first] = compare("in the scheduler", ["--parallel", "one"], RUNS);
  const [alone] = compare("in place of replacing rt", ["one"], RUNS);
  const [, many] = compare("", ["--sequential", "many:*"], RUNS / 6);
  // The row of one script has the cost of a run.
  const further = many.map((median, side) => (median - first[side]!) / (SCRIPTS - 1));
  return [figureOf(`each further one of ${SCRIPTS} scripts`, further), scheduled, alone];
}

function figureOf(figure: string, [ours, peer]: readonly number[]): Figure {
  const show = (time: number) => `${time.toFixed(2)} ms`;
  const more = ours! - peer!;
  return {
    figure: `start with permissions, ${figure}, milliseconds more : without`,
    ours: show(ours!),
    peer: show(peer!),
    ratio: more,
    goal: `<= ${GOAL}`,
    met: more <= GOAL,
  };
}
