// Measures a shared run on several machines, compared with the theoretical minimum: the critical path, or all work divided by the
// machines.
//
// The machines are processes of this machine, so the scripts sleep. The figures show the order of the tasks and the overhead of
// coordination. The durations of the scripts come from a report, as after an earlier run.
import { findCriticalPath } from "../../src/tasks/planning/critical-path.ts";
import { createMachines } from "../../test/distributed/machines.ts";
import { createRandom } from "../../test/support/random.ts";
import type { Figure } from "../row.ts";

const SCRIPTS = 300;
const MACHINES = 4;
const GOAL = 1.15;

export async function measure(): Promise<Figure[]> {
  const random = createRandom(18);
  const durations = Array.from({ length: SCRIPTS }, () => 200 + random.below(1800));
  const waitsFor = durations.map((_, at) =>
    at === 0 ? [] : [...new Set(Array.from({ length: random.below(4) }, () => random.below(at)))],
  );
  const packages = durations.map((duration, at) => [
    `p${at}`,
    {
      t: `sleep ${duration / 1000}; cat src.txt > out.txt`,
      needs: waitsFor[at]!.map((each) => `p${each}`),
    },
  ]);
  await using machines = await createMachines({ count: MACHINES, packages: Object.fromEntries(packages) });
  const tasks = durations.map((duration, at) => ({
    package: `p${at}`,
    script: "t",
    outcome: "success",
    duration,
  }));
  await machines.folder.write({ "times.json": { version: 1, tasks } });
  const words = ["--concurrency=1", "--silent", `--shard-times=${machines.folder.join("times.json")}`];
  const begin = performance.now();
  const results = await Promise.all(machines.all.map((machine) => machine.start(words).result));
  const took = performance.now() - begin;
  for (const { status, stderr } of results) if (status !== 0) throw new Error(stderr);
  const total = durations.reduce((sum, each) => sum + each, 0);
  const bound = Math.max(findCriticalPath(durations, waitsFor).duration, total / MACHINES);
  const ratio = took / bound;
  return [
    {
      figure: `${SCRIPTS} scripts of 0.2 to 2 s on ${MACHINES} machines : the least that any order takes`,
      ours: `${(took / 1000).toFixed(1)} s`,
      peer: `${(bound / 1000).toFixed(1)} s`,
      ratio,
      goal: `<= ${GOAL}`,
      met: ratio <= GOAL,
    },
  ];
}
