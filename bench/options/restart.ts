// Measures a restart under --watch, from the save of a file to the first output of the new start. It also measures an option
// before a file.
//
// The engine takes between 5 and 22 ms for a restart, evenly distributed, in every program. So the mean of many restarts is
// compared; a median would be random.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BUN } from "../peers.ts";
import { copyPrograms, timeCommands } from "../processes.ts";
import type { Figure } from "../row.ts";

const RT = join(import.meta.dir, "..", "..", "dist", "rt");
const RESTARTS = 400;
const RUNS = 100;
const MOST_RESTART = 1.1;
const MOST_FLAGGED = 2.2;

interface Watched extends AsyncDisposable {
  /** Returns the milliseconds from the save of the next version to its first output. */
  restart(): Promise<number>;
}

async function startWatched(program: string): Promise<Watched> {
  const directory = await mkdtemp(join(tmpdir(), "rt-bench-"));
  const file = join(directory, "a.ts");
  let version = 0;
  const save = async () =>
    await Bun.write(file, `console.log("version ${version}.");\nsetInterval(() => {}, 1000);\n`);
  await save();
  const child = Bun.spawn([program, "--watch", "a.ts"], {
    cwd: directory,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  const reader = child.stdout.getReader();
  const decoder = new TextDecoder();
  let output = "";
  const see = async (text: string) => {
    while (!output.includes(text)) {
      const { done, value } = await reader.read();
      if (done) throw new Error(`${program} --watch ended`);
      output += decoder.decode(value, { stream: true });
    }
  };
  await see("version 0.");
  return {
    async restart() {
      version += 1;
      const start = performance.now();
      await save();
      await see(`version ${version}.`);
      return performance.now() - start;
    },
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

function row(figure: string, ours: number, peer: number, most: number): Figure {
  const ratio = ours / peer;
  return {
    figure,
    ours: `${ours.toFixed(2)} ms`,
    peer: `${peer.toFixed(2)} ms`,
    ratio,
    goal: `<= ${most}`,
    met: ratio <= most,
  };
}

async function measureRestarts(rt: string, bun: string): Promise<Figure> {
  await using ours = await startWatched(rt);
  await using peer = await startWatched(bun);
  const times: [number[], number[]] = [[], []];
  for (let count = 0; count < RESTARTS; count += 1) {
    times[0].push(await ours.restart());
    times[1].push(await peer.restart());
  }
  return row(
    "restart under --watch, save to output : bun --watch",
    mean(times[0]),
    mean(times[1]),
    MOST_RESTART,
  );
}

export async function measure(): Promise<Figure[]> {
  await using programs = await copyPrograms({ rt: RT, bun: BUN });
  const { directory, paths } = programs;
  const [rt, bun] = [paths.rt!, paths.bun!];
  const restarts = await measureRestarts(rt, bun);
  await Bun.write(join(directory, "hello.ts"), 'console.log("hello" as string);\n');
  const [ours, peer] = timeCommands(
    [
      { name: "rt --smol hello.ts", argv: [rt, "--smol", "hello.ts"] },
      { name: "bun --smol hello.ts", argv: [bun, "--smol", "hello.ts"] },
    ],
    RUNS,
    directory,
  );
  return [
    restarts,
    row("rt --smol hello.ts : bun --smol hello.ts", ours!.median, peer!.median, MOST_FLAGGED),
  ];
}
