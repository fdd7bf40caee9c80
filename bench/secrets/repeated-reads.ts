// Runs inside a session (see figures.ts), as `rt repeated-reads.ts`: many reads in one process, alternating between rt.secrets and
// Bun.secrets. Prints the median of each in milliseconds, as JSON.
import { median } from "../processes.ts";

const { secrets } = (globalThis as unknown as { rt?: { secrets: typeof Bun.secrets } }).rt ?? Bun;
const COUNT = 200;
const ROUNDS = 9;
const service = "dev.rt.bench";
const names = Array.from({ length: COUNT }, (_, index) => `name ${index}`);
for (const name of names) await secrets.set({ service, name, value: `value of ${name}` });

const sides = { ours: secrets, peer: Bun.secrets };
const times = {
  sequential: { ours: [] as number[], peer: [] as number[] },
  parallel: { ours: [] as number[], peer: [] as number[] },
  samePair: { ours: [] as number[], peer: [] as number[] },
};
for (let round = 0; round <= ROUNDS; round++) {
  for (const side of ["ours", "peer"] as const) {
    const store = sides[side];
    let start = performance.now();
    for (let index = 0; index < 1000; index++) await store.get({ service, name: names[index % COUNT]! });
    const sequential = performance.now() - start;
    start = performance.now();
    await Promise.all(names.map((name) => store.get({ service, name })));
    const parallel = performance.now() - start;
    start = performance.now();
    await Promise.all(names.map(() => store.get({ service, name: names[0]! })));
    const samePair = performance.now() - start;
    if (round === 0) continue; // warm-up
    times.sequential[side].push(sequential);
    times.parallel[side].push(parallel);
    times.samePair[side].push(samePair);
  }
}
const result = Object.fromEntries(
  Object.entries(times).map(([what, { ours, peer }]) => [what, { ours: median(ours), peer: median(peer) }]),
);
console.log(JSON.stringify(result));
