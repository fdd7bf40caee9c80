import { describe, expect, test } from "bun:test";
import { orderTasks } from "../../../src/tasks/planning/task-order.ts";
import { createRandom } from "../../support/random.ts";

describe("orderTasks()", () => {
  test("keeps required edges, and drops preferred edges that close a cycle", () => {
    const { order, waitsFor } = orderTasks([[1], [], []], [[], [0, 2], []], [0, 1, 2]);
    expect({ order, waitsFor }).toEqual({ order: [2, 1, 0], waitsFor: [[1], [2], []] });
  });

  test("orders a chain that is longer than the call stack", () => {
    const size = 50_000;
    const chain = Array.from({ length: size }, (_, task) => (task + 1 < size ? [task + 1] : []));
    expect(orderTasks(chain, [], [...chain.keys()]).order[0]).toBe(size - 1);
  });

  test("orders every graph topologically, and by rank where its edges allow it", () => {
    const random = createRandom(5);
    for (let round = 0; round < 500; round++) {
      const size = 1 + random.below(12);
      const tasks = Array.from({ length: size }, (_, task) => task);
      const ranks = tasks.map((task) => ((task + 1) * 7919) % 10_007);
      const pick = (targets: readonly number[]) => targets.filter(() => random.below(4) === 0);
      const required = tasks.map((task) => pick(tasks.slice(0, task)));
      const preferred = tasks.map((task) => pick(tasks.filter((each) => each !== task)));
      const { order, waitsFor } = orderTasks(required, preferred, ranks);
      expect(order.toSorted((a, b) => a - b)).toEqual(tasks);
      for (const task of tasks) {
        for (const target of required[task]!) expect(waitsFor[task]).toContain(target);
        for (const target of waitsFor[task]!) {
          expect([...required[task]!, ...preferred[task]!]).toContain(target);
          expect(order.indexOf(target)).toBeLessThan(order.indexOf(task));
        }
      }
      const isDone = (target: number) => done.includes(target);
      const done: number[] = [];
      for (const task of order) {
        const ready = tasks.filter((each) => !isDone(each) && waitsFor[each]!.every(isDone));
        const first = ready.toSorted((a, b) => ranks[a]! - ranks[b]!)[0]!;
        // A task whose preferred edge was dropped may come later than its remaining edges allow.
        const lacksEdge = preferred[first]!.some((target) => !waitsFor[first]!.includes(target));
        if (!lacksEdge) expect(task).toBe(first);
        done.push(task);
      }
      const hasCycle = tasks.some((task) => reaches([...preferred[task]!], required, preferred).has(task));
      if (!hasCycle)
        for (const task of tasks)
          expect(waitsFor[task]).toEqual([...new Set([...required[task]!, ...preferred[task]!])]);
    }
  });
});

function reaches(
  start: readonly number[],
  required: readonly (readonly number[])[],
  preferred: readonly (readonly number[])[],
): Set<number> {
  const reached = new Set(start);
  for (const task of reached) for (const next of [...required[task]!, ...preferred[task]!]) reached.add(next);
  return reached;
}
