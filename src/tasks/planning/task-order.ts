// Orders tasks topologically. Pure.
//
// Invariants:
// - Required edges are always kept. An edge of the package order is dropped if it closes a cycle.
// - If the required edges have a cycle, the order lacks the tasks of the cycle and their dependents.
// - Ready tasks are ordered by rank, so the order is deterministic.

/**
 * @param preferred the package order, if some tasks follow it
 * @param ranks different numbers by task; the smallest ready one comes first
 */
export function orderTasks(
  required: readonly (readonly number[])[],
  preferred: readonly (readonly number[])[] | undefined,
  ranks: readonly number[],
): { readonly order: readonly number[]; readonly waitsFor: readonly (readonly number[])[] } {
  const count = required.length;
  const wished = required.map((targets, task) =>
    preferred ? (preferred[task] ?? []).filter((each) => !targets.includes(each)) : [],
  );
  const waiting = required.map(({ length }) => length);
  const missing = wished.map(({ length }) => length);
  const dependents = reverse(required);
  const followers = reverse(wished);
  const isDone = new Uint8Array(count);
  const ready = new RankedQueue(ranks);
  /** Tasks that wait only for the package order. */
  const blocked = new RankedQueue(ranks);
  const enqueue = (task: number) => (missing[task] === 0 ? ready : blocked).push(task);
  for (let task = 0; task < count; task++) if (waiting[task] === 0) enqueue(task);
  const order: number[] = [];
  while (order.length < count) {
    let task = ready.pop();
    if (task === undefined) {
      // A cycle: the first blocked task stops waiting for the package order.
      do task = blocked.pop();
      while (task !== undefined && isDone[task]);
      if (task === undefined) break;
      wished[task] = wished[task]!.filter((target) => isDone[target]);
    }
    isDone[task] = 1;
    order.push(task);
    for (const dependent of dependents[task] ?? []) if (--waiting[dependent]! === 0) enqueue(dependent);
    for (const follower of followers[task] ?? [])
      if (--missing[follower]! === 0 && waiting[follower] === 0 && !isDone[follower]) ready.push(follower);
  }
  const waitsFor = required.map((targets, task) =>
    wished[task]!.length > 0 ? [...targets, ...wished[task]!] : targets,
  );
  return { order, waitsFor };
}

function reverse(edges: readonly (readonly number[])[]): (number[] | undefined)[] {
  const reversed: (number[] | undefined)[] = [];
  for (const [task, targets] of edges.entries())
    for (const target of targets) (reversed[target] ??= []).push(task);
  return reversed;
}

/** A binary heap, smallest rank first. */
class RankedQueue {
  readonly #heap: number[] = [];
  readonly #ranks: readonly number[];

  constructor(ranks: readonly number[]) {
    this.#ranks = ranks;
  }

  push(task: number): void {
    const heap = this.#heap;
    let at = heap.push(task) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#ranks[heap[parent]!]! <= this.#ranks[task]!) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = task;
  }

  pop(): number | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return first;
    let at = 0;
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      if (child + 1 < heap.length && this.#ranks[heap[child + 1]!]! < this.#ranks[heap[child]!]!) child += 1;
      if (this.#ranks[heap[child]!]! >= this.#ranks[last]!) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}
