// Orders packages topologically and derives the dependency graph of tasks from the dependency graph of packages.
// Pure.
//
// Invariants:
// - A task waits for the tasks of all packages that its package depends on, also through packages without the
//   script or outside the selection.
// - Ready packages are ordered by member position, so the order is deterministic.
// - The edge that closes a dependency cycle is dropped, and the cycle is reported.
import type { DependencyGraph } from "../../workspace/dependencies.ts";

export interface Ordering {
  /** Positions of packages, dependencies first. */
  readonly order: readonly number[];
  /** By package: its dependencies, without the edges that close a cycle. */
  readonly acyclic: readonly (readonly number[] | undefined)[];
  /** The packages along each cycle; the last depends on the first. */
  readonly cycles: readonly (readonly number[])[];
}

/** Visits only packages reachable from `selected`. */
export function orderPackages(graph: DependencyGraph, selected: readonly number[]): Ordering {
  if (selected.length < 2) return { order: selected, acyclic: [], cycles: [] }; // nothing to order
  const { acyclic, cycles, reached } = breakCycles(graph, selected);
  const waiting = new Map<number, number>();
  const dependents = new Map<number, number[]>();
  for (const node of reached) {
    waiting.set(node, acyclic[node]?.length ?? 0);
    for (const target of acyclic[node] ?? []) {
      const list = dependents.get(target);
      if (list) list.push(node);
      else dependents.set(target, [node]);
    }
  }
  const ready = [...reached].filter((node) => waiting.get(node) === 0).sort((a, b) => b - a); // smallest last
  const order: number[] = [];
  for (let node = ready.pop(); node !== undefined; node = ready.pop()) {
    order.push(node);
    for (const dependent of dependents.get(node) ?? []) {
      const left = (waiting.get(dependent) ?? 0) - 1;
      waiting.set(dependent, left);
      if (left === 0) insertDescending(ready, dependent);
    }
  }
  return { order, acyclic, cycles };
}

/** For each package of `withTasks`, the packages of `withTasks` that it waits for, ascending. */
export function collapseGraph(
  acyclic: Ordering["acyclic"],
  withTasks: ReadonlySet<number>,
  order: readonly number[],
): Map<number, readonly number[]> {
  const nearest = new Map<number, readonly number[]>();
  for (const node of order) {
    const found = new Set<number>();
    for (const target of acyclic[node] ?? []) {
      if (withTasks.has(target)) found.add(target);
      else for (const further of nearest.get(target) ?? []) found.add(further);
    }
    nearest.set(
      node,
      [...found].sort((a, b) => a - b),
    );
  }
  return nearest;
}

/** Drops the edges that close a cycle, and returns the cycles. Visits only nodes reachable from `selected`. */
export function breakCycles(graph: Pick<DependencyGraph, "edges">, selected: Iterable<number>) {
  const acyclic: number[][] = [];
  const cycles: number[][] = [];
  const reached = new Set<number>();
  const finished = new Set<number>();
  // Depth-first search without recursion: a chain may be longer than the stack.
  for (const start of selected) {
    if (reached.has(start)) continue;
    reached.add(start);
    const path: { node: number; next: number }[] = [{ node: start, next: 0 }];
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const target = graph.edges(top.node)[top.next++];
      if (target === undefined) {
        finished.add(top.node);
        path.pop();
      } else if (reached.has(target) && !finished.has(target)) {
        cycles.push(path.slice(path.findIndex(({ node }) => node === target)).map(({ node }) => node));
      } else {
        (acyclic[top.node] ??= []).push(target);
        if (reached.has(target)) continue;
        reached.add(target);
        path.push({ node: target, next: 0 });
      }
    }
  }
  return { acyclic, cycles, reached };
}

function insertDescending(list: number[], value: number): void {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (list[middle]! > value) low = middle + 1;
    else high = middle;
  }
  list.splice(low, 0, value);
}
