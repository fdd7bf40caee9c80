// Which scripts come first, and what that is worth: the decision, by itself.
import { expect, test } from "bun:test";
import { findCriticalPath } from "../../src/tasks/planning/critical-path.ts";
import { ConcurrencyLimiter } from "../../src/tasks/execution/concurrency-limiter.ts";
import { rankTasks } from "../../src/tasks/leases/critical-path-priority.ts";
import { createRandom } from "../support/random.ts";

test("a script is worth the longest way from it to the end", () => {
  // 0 <- 1 <- 3 and 0 <- 2; 4 stands alone.
  expect(rankTasks([1, 2, 10, 3, 5], [[], [0], [0], [1], []])).toEqual([11, 5, 10, 3, 5]);
  expect(rankTasks([], [])).toEqual([]);
});

/** When the last of them has ended, if each of so many machines takes the first of what could start. */
function simulate(
  durations: readonly number[],
  waitsFor: readonly (readonly number[])[],
  ranks: readonly number[],
  machines: number,
): number {
  const ends = new Map<number, number>();
  const free = Array.from({ length: machines }, () => 0);
  const left = new Set(durations.keys());
  while (left.size > 0) {
    const at = free.indexOf(Math.min(...free));
    const now = free[at]!;
    const readyAt = (task: number) =>
      Math.max(0, ...waitsFor[task]!.map((target) => ends.get(target) ?? Number.POSITIVE_INFINITY));
    const ready = [...left].filter((task) => readyAt(task) <= now);
    if (ready.length === 0) {
      free[at] = Math.min(...[...left].map(readyAt).filter((time) => time > now));
      continue;
    }
    const task = ready.reduce((best, each) => (ranks[each]! > ranks[best]! ? each : best));
    left.delete(task);
    free[at] = now + durations[task]!;
    ends.set(task, free[at]);
  }
  return Math.max(...ends.values());
}

test("four machines take at most 1.15 times as long as any order could", () => {
  const random = createRandom(18);
  let worst = 0;
  let worstInOrder = 0;
  for (let round = 0; round < 5; round++) {
    const durations = Array.from({ length: 300 }, () => 200 + random.below(1800));
    const waitsFor = durations.map((_, at) =>
      at === 0 ? [] : Array.from({ length: random.below(4) }, () => random.below(at)),
    );
    const total = durations.reduce((sum, each) => sum + each, 0);
    const bound = Math.max(findCriticalPath(durations, waitsFor).duration, total / 4);
    worst = Math.max(worst, simulate(durations, waitsFor, rankTasks(durations, waitsFor), 4) / bound);
    const inOrder = durations.map((_, at) => -at);
    worstInOrder = Math.max(worstInOrder, simulate(durations, waitsFor, inOrder, 4) / bound);
  }
  expect(worst).toBeLessThanOrEqual(1.15);
  expect(worst).toBeLessThan(worstInOrder);
});

test("of what waits beside scripts, that comes first which is worth most", async () => {
  const lane = new ConcurrencyLimiter(1);
  const order: number[] = [];
  await Promise.all([3, 1, 7, 5].map((rank) => lane.run(rank, async () => void order.push(rank))));
  expect(order).toEqual([7, 5, 3, 1]);
  // What fails holds nobody up.
  const [failed, done] = await Promise.allSettled([
    lane.run(2, () => Promise.reject(new Error("no"))),
    lane.run(1, async () => "yes"),
  ]);
  expect([failed.status, done]).toEqual(["rejected", { status: "fulfilled", value: "yes" }]);
});
