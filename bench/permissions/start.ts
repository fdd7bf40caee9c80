// Measures how much later a script starts with permissions: alone, and as one of many in a run. The comparison is the same run
// without permissions. Alone it is `rt run one`, from a memo, in a project whose rtfig.toml gives permissions by default, beside one
// whose rtfig.toml does not.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { copyPrograms, type TimedCommand, timeCommands } from "../processes.ts";
import type { Figure } from "../row.ts";

const RT = join(import.meta.dir, "..", "..", "dist", "rt");
const RUNS = 60;
const SCRIPTS = 40;
/** Milliseconds. Each start has a listener, because the defaults decide connections. */
const GOAL = 2;
/** Newer files have no memo. Milliseconds. */
const SETTLED = 200;

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
  const alone = await compareProjects(paths.rt!, directory);
  const [, many] = compare("", ["--sequential", "many:*"], RUNS / 6);
  // The row of one script has the cost of a run.
  const further = many.map((median, side) => (median - first[side]!) / (SCRIPTS - 1));
  return [figureOf(`each further one of ${SCRIPTS} scripts`, further), scheduled, alone];
}

/** `rt run one` of two projects, each from its memo. */
async function compareProjects(rt: string, directory: string): Promise<Figure> {
  const sides: TimedCommand[] = [];
  for (const [name, config] of [
    ["with", "[permissions]\ndefault = true\n"],
    ["without", "# nothing\n"],
  ] as const) {
    const project = join(directory, name);
    await Bun.write(join(project, "package.json"), JSON.stringify({ scripts: { one: "/bin/true" } }));
    await Bun.write(join(project, "rtfig.toml"), config);
    sides.push({
      name,
      argv: [rt, "run", "one"],
      directory: project,
      env: { HOME: join(directory, "home") },
    });
  }
  await mkdir(join(directory, "home"));
  await Bun.sleep(SETTLED);
  const medians = timeCommands(sides, RUNS, directory).map(({ median }) => median);
  return figureOf("in place of replacing rt, from the memos of two projects with an rtfig.toml", medians);
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
