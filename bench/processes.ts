// Times processes side by side. The commands alternate in rounds, so that a slow machine slows all of them. Medians are compared;
// each ratio is of runs in the same round.
//
// Each round has a different order. After a large program, the processor's caches are full of it, which costs the next one a
// tenth of a start.
import { mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

export interface TimedCommand {
  readonly name: string;
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The working directory, instead of that of all commands. */
  readonly directory?: string;
  /** Standard input, from a file. */
  readonly stdin?: string;
  /** Not timed. */
  readonly prepare?: () => void;
}

export interface Timing {
  readonly name: string;
  /** Median wall time in milliseconds. */
  readonly median: number;
  /** Median of the ratios to the first command, run by run. */
  readonly ratio: number;
}

/** The environment of a terminal: without npm's additions. */
function terminalEnvironment(): Record<string, string | undefined> {
  const entries = Object.entries(process.env).filter(([name]) => !/^(?:npm_|INIT_CWD|NODE$)/.test(name));
  const PATH = process.env.PATH?.split(delimiter).filter((entry) => !entry.includes("node_modules"));
  return { ...Object.fromEntries(entries), PATH: PATH?.join(delimiter) };
}

export function timeCommands(commands: readonly TimedCommand[], runs: number, cwd: string): Timing[] {
  const times = commands.map((): number[] => []);
  const inherited = terminalEnvironment();
  const warmUps = 3;
  for (let run = -warmUps; run < runs; run += 1) {
    for (const index of shuffle(commands.keys())) {
      const { argv, directory = cwd, env, stdin, prepare } = commands[index]!;
      prepare?.();
      const start = Bun.nanoseconds();
      const { exitCode } = Bun.spawnSync([...argv], {
        cwd: directory,
        env: { ...inherited, ...env },
        stdin: stdin === undefined ? "ignore" : Bun.file(stdin),
        stdout: "ignore",
        stderr: "ignore",
      });
      const elapsed = (Bun.nanoseconds() - start) / 1e6;
      if (exitCode !== 0) throw new Error(`${argv.join(" ")} exited with ${exitCode}`);
      if (run < 0) continue;
      times[index]!.push(elapsed);
    }
  }
  const first = times[0]!;
  return commands.map(({ name }, index) => ({
    name,
    median: median(times[index]!),
    ratio: median(first.map((time, run) => time / times[index]![run]!)),
  }));
}

function shuffle(values: Iterable<number>): number[] {
  return Array.from(values, (value) => ({ value, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ value }) => value);
}

const LAUNCHER = `
  const { resourceUsage } = Bun.spawnSync(process.argv.slice(1), { stdout: "ignore", stderr: "ignore" });
  console.log(resourceUsage.maxRSS);
`;

/**
 * Returns the peak memory of the largest of three runs, in megabytes. The kernel's figure includes the
 * parent's memory at the fork, so a small process starts the program.
 */
export function measureMemory(argv: readonly string[], cwd: string): number {
  const measure = () => Number(Bun.spawnSync([process.execPath, "-e", LAUNCHER, ...argv], { cwd }).stdout);
  return Math.max(measure(), measure(), measure()) / 2 ** 20;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/**
 * Returns a directory with fresh copies of the programs. The layout of a large file in the page cache affects its start, so all
 * programs are copied alike.
 */
export async function copyPrograms(programs: Readonly<Record<string, string>>) {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "rt-bench-")));
  const paths: Record<string, string> = {};
  for (const [name, path] of Object.entries(programs)) {
    paths[name] = join(directory, name);
    await writeFile(paths[name], await readFile(path), { mode: 0o755 });
  }
  return {
    directory,
    paths,
    async [Symbol.asyncDispose]() {
      await rm(directory, { recursive: true, force: true });
    },
  };
}
