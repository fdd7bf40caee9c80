// The priority of tasks in a shared run: ranks by critical path, and the concurrency limiter that uses them.
import { expect, test } from "bun:test";
import { findCriticalPath } from "../../src/tasks/planning/critical-path.ts";
import { ConcurrencyLimiter } from "../../src/tasks/execution/concurrency-limiter.ts";
import { rankTasks } from "../../src/tasks/leases/critical-path-priority.ts";
import { createRandom } from "../support/random.ts";

test("the rank of a task is its longest path to the end of the plan", () => {
  // Task 1 depends on 0, 3 on 1, and 2 on 0. Task 4 is independent.
  expect(rankTasks([1, 2, 10, 3, 5], [[], [0], [0], [1], []])).toEqual([11, 5, 10, 3, 5]);
  expect(rankTasks([], [])).toEqual([]);
});

/** Returns the end time if each machine always takes the ready task with the highest rank. */
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

test("four machines need at most 1.15 times the lower bound", () => {
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

test("the concurrency limiter starts waiting tasks by descending rank", async () => {
  const limiter = new ConcurrencyLimiter(1);
  const order: number[] = [];
  await Promise.all([3, 1, 7, 5].map((rank) => limiter.run(rank, async () => void order.push(rank))));
  expect(order).toEqual([7, 5, 3, 1]);
  // A failed task does not block others.
  const [failed, done] = await Promise.allSettled([
    limiter.run(2, () => Promise.reject(new Error("no"))),
    limiter.run(1, async () => "yes"),
  ]);
  expect([failed.status, done]).toEqual(["rejected", { status: "fulfilled", value: "yes" }]);
});
