// Runs `rt run --share` with 300 scripts on four machines, many times. One machine is killed, and Redis restarts without
// data.
// `npm run test:remote` runs this file, `npm test` does not find it. RT_TEST_ROUNDS sets the number of rounds.
import { expect, test } from "bun:test";
import { waitUntil } from "../support/processes.ts";
import { createRandom } from "../support/random.ts";
import { createMachines, type Machines, RECORD } from "./machines.ts";

const ROUNDS = Number(process.env.RT_TEST_ROUNDS ?? 20);
const SCRIPTS = 300;
const HOUR = 3600_000;

function createPackages(seed: number): Record<string, { t: string; needs: string[] }> {
  const random = createRandom(seed);
  const packages: Record<string, { t: string; needs: string[] }> = {};
  for (let at = 0; at < SCRIPTS; at++) {
    const count = at === 0 ? 0 : random.below(4);
    const needs = [...new Set(Array.from({ length: count }, () => `p${random.below(at)}`))];
    const inputs = needs.map((each) => `../${each}/out.txt`).join(" ");
    packages[`p${at}`] = { t: `${RECORD}; cat src.txt ${inputs} | md5sum > out.txt`, needs };
  }
  return packages;
}

/** Expects equal outputs on all machines. Returns how often each script ran. */
async function check(machines: Machines, survivors = machines.all): Promise<ReadonlyMap<string, number>> {
  const outputs = await Promise.all(
    survivors.map(
      async ({ path }) =>
        await Promise.all(
          Array.from({ length: SCRIPTS }, (_, at) => Bun.file(`${path}/packages/p${at}/out.txt`).text()),
        ),
    ),
  );
  for (const each of outputs) expect(each).toEqual(outputs[0]!);
  const counts = new Map<string, number>();
  for (const line of await machines.ran()) {
    const [name] = line.split(" ");
    counts.set(name!, (counts.get(name!) ?? 0) + 1);
  }
  expect(counts.size).toBe(SCRIPTS);
  return counts;
}

const options = ["--concurrency=2", "--silent"];

for (let round = 1; round <= ROUNDS; round++)
  test(
    `shared run, round ${round}: each script runs once`,
    async () => {
      await using machines = await createMachines({ count: 4, packages: createPackages(round) });
      const results = await Promise.all(machines.all.map((each) => each.start(options).result));
      expect(results.map(({ status }) => status)).toEqual([0, 0, 0, 0]);
      const counts = await check(machines);
      expect([...counts].filter(([, count]) => count !== 1)).toEqual([]);
    },
    HOUR,
  );

test(
  "a shared run completes when one machine is killed",
  async () => {
    await using machines = await createMachines({ count: 4, packages: createPackages(100) });
    const running = machines.all.map((each) => each.start(options, { RT_SHARE_LIFE: "10000" }));
    await waitUntil(async () => (await machines.ran()).length >= SCRIPTS / 3);
    running[0]!.kill("SIGKILL");
    const results = await Promise.all(running.map(({ result }) => result));
    expect(results.map(({ status }) => status)).toEqual(["SIGKILL", 0, 0, 0]);
    const counts = await check(machines, machines.all.slice(1));
    // Only scripts that the killed machine was running run again.
    const again = [...counts].filter(([, count]) => count > 1);
    expect(again.length).toBeLessThanOrEqual(2);
  },
  HOUR,
);

test(
  "a shared run completes when Redis restarts without data",
  async () => {
    await using machines = await createMachines({ count: 4, packages: createPackages(200) });
    const running = machines.all.map((each) => each.start(options));
    for (const part of [0.25, 0.5, 0.75]) {
      await waitUntil(async () => (await machines.ran()).length >= SCRIPTS * part);
      await machines.redis.kill();
      await machines.redis.start();
    }
    const results = await Promise.all(running.map(({ result }) => result));
    expect(results.map(({ status }) => status)).toEqual([0, 0, 0, 0]);
    await check(machines);
  },
  HOUR,
);
