import { describe, expect, test } from "bun:test";
import type { DependencyGraph } from "../../src/workspace/dependencies.ts";
import { collapseGraph, orderPackages } from "../../src/tasks/planning/graph.ts";
import { createRandom } from "../support/random.ts";

const graphOf = (edges: number[][]): DependencyGraph => ({
  size: edges.length,
  edges: (node) => edges[node]!,
});
const all = (edges: number[][]) => edges.map((_, index) => index);

describe("orderPackages()", () => {
  test.each<[string, number[][], number[]]>([
    ["member packages without dependencies in member order", [[], [], []], [0, 1, 2]],
    ["a chain from its end", [[1], [2], []], [2, 1, 0]],
    ["a diamond from its end", [[1, 2], [3], [3], []], [3, 1, 2, 0]],
    ["packages that can start before those that wait", [[3], [], [], []], [1, 2, 3, 0]],
  ])("orders %s", (_, edges, order) => {
    expect(orderPackages(graphOf(edges), all(edges))).toMatchObject({ order, cycles: [] });
  });

  test("follows dependencies through packages that are not selected", () => {
    expect(orderPackages(graphOf([[1], [2], []]), [0, 2]).order).toEqual([2, 1, 0]);
  });

  test("drops the edge that closes a cycle, and reports each cycle once", () => {
    const { order, cycles } = orderPackages(graphOf([[1], [2], [0, 3], [3]]), [0, 1, 2, 3]);
    expect(order).toEqual([3, 2, 1, 0]);
    expect(cycles).toEqual([[0, 1, 2], [3]]);
  });

  test("orders a chain that is longer than the call stack", () => {
    const size = 50_000;
    const edges = Array.from({ length: size }, (_, index) => (index + 1 < size ? [index + 1] : []));
    expect(orderPackages(graphOf(edges), [0, 1]).order.length).toBe(size);
  });

  test("orders every graph topologically, and by member order where dependencies allow it", () => {
    const random = createRandom(3);
    for (let round = 0; round < 300; round++) {
      const size = 2 + random.below(12);
      const edges = Array.from({ length: size }, (_, self) =>
        all(Array.from({ length: size }, () => [])).filter(
          (target) => target !== self && random.below(5) === 0,
        ),
      );
      const { order, acyclic } = orderPackages(graphOf(edges), all(edges));
      expect([...order].sort((a, b) => a - b)).toEqual(all(edges));
      for (const [node, targets] of acyclic.entries())
        for (const target of targets ?? []) expect(order.indexOf(target)).toBeLessThan(order.indexOf(node));
      const expected: number[] = [];
      const canStart = (node: number) =>
        !expected.includes(node) && (acyclic[node] ?? []).every((target) => expected.includes(target));
      while (expected.length < size) expected.push(all(edges).find(canStart)!);
      expect(order).toEqual(expected);
    }
  });
});

test("collapseGraph() connects tasks through packages without tasks", () => {
  // 0 -> 1 -> {2, 3}, 3 -> 4; 1 and 3 have no task
  const { order, acyclic } = orderPackages(graphOf([[1], [2, 3], [], [4], []]), [0, 2, 4]);
  expect(collapseGraph(acyclic, new Set([0, 2, 4]), order).get(0)).toEqual([2, 4]);
});
