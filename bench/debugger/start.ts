// Measures the start with --inspect, from the start of the process to the program's first line. The comparison is the engine's
// own debugger. rt starts itself twice, and prepares a thread for Chrome's protocol.
import { join } from "node:path";
import { DIST } from "../../build/compile.ts";
import { hostTarget } from "../../build/targets.ts";
import { copyPrograms, median } from "../processes.ts";
import type { Figure } from "../row.ts";

const RUNS = 40;
const WARM_UPS = 3;
const LATEST = 15; // ms
/** Prints its start time and exits. */
const PROGRAM = "console.log(performance.timeOrigin + performance.now());\nprocess.exit();\n";

/** @returns milliseconds */
function timeFirstLine(argv: readonly string[], cwd: string): number {
  const start = performance.timeOrigin + performance.now();
  const { stdout, exitCode } = Bun.spawnSync([...argv], { cwd, stdin: "ignore", stderr: "ignore" });
  if (exitCode !== 0) throw new Error(`${argv.join(" ")} exited with ${exitCode}`);
  return Number(stdout) - start;
}

export async function measure(): Promise<Figure[]> {
  const programs = { rt: join(DIST, hostTarget().file), bun: process.execPath };
  await using copies = await copyPrograms(programs);
  const file = join(copies.directory, "first.ts");
  await Bun.write(file, PROGRAM);
  const times = { rt: [] as number[], bun: [] as number[] };
  for (let run = -WARM_UPS; run < RUNS; run += 1) {
    const names = run % 2 === 0 ? (["rt", "bun"] as const) : (["bun", "rt"] as const);
    for (const name of names) {
      const time = timeFirstLine([copies.paths[name]!, "--inspect=127.0.0.1:0", file], copies.directory);
      if (run >= 0) times[name].push(time);
    }
  }
  const later = median(times.rt.map((time, run) => time - times.bun[run]!));
  return [
    {
      figure: "to the first line with --inspect, and how many ms later",
      ours: `${median(times.rt).toFixed(1)} ms`,
      peer: `${median(times.bun).toFixed(1)} ms`,
      ratio: later,
      goal: `<= ${LATEST}`,
      met: later <= LATEST,
    },
  ];
}
