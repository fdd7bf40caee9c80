// Orders tasks topologically. Pure.
//
// Invariants:
// - Required edges are acyclic and always kept. An edge of the package order is dropped if it closes a cycle.
// - Ready tasks are ordered by rank, so the order is deterministic.

/** @param ranks different numbers by task; the smallest ready one comes first */
export function orderTasks(
  required: readonly (readonly number[])[],
  preferred: readonly (readonly number[])[],
  ranks: readonly number[],
): { readonly order: readonly number[]; readonly waitsFor: readonly (readonly number[])[] } {
  const count = required.length;
  const waiting = required.map(({ length }) => length);
  const wished = required.map((_, task) => new Set(preferred[task] ?? []));
  for (const [task, targets] of required.entries())
    for (const target of targets) wished[task]!.delete(target);
  const dependents: number[][] = Array.from({ length: count }, () => []);
  const followers: number[][] = Array.from({ length: count }, () => []);
  for (let task = 0; task < count; task++) {
    for (const target of required[task]!) dependents[target]!.push(task);
    for (const target of wished[task]!) followers[target]!.push(task);
  }
  const missing = wished.map(({ size }) => size);
  const isDone = new Uint8Array(count);
  const ready = new RankedQueue(ranks);
  /** Tasks that wait only for the package order. */
  const blocked = new RankedQueue(ranks);
  const settle = (task: number) => {
    if (waiting[task] !== 0) return;
    if (missing[task] === 0) ready.push(task);
    else blocked.push(task);
  };
  for (let task = 0; task < count; task++) settle(task);
  const order: number[] = [];
  while (order.length < count) {
    let task = ready.pop();
    // A cycle: the first blocked task stops waiting for the package order.
    for (task ??= blocked.pop(); task !== undefined && isDone[task]; task = blocked.pop());
    isDone[task!] = 1;
    order.push(task!);
    for (const target of wished[task!]!) if (!isDone[target]) wished[task!]!.delete(target);
    for (const dependent of dependents[task!]!) if (--waiting[dependent]! === 0) settle(dependent);
    for (const follower of followers[task!]!)
      if (--missing[follower]! === 0 && waiting[follower] === 0 && !isDone[follower]) ready.push(follower);
  }
  return { order, waitsFor: required.map((targets, task) => [...new Set([...targets, ...wished[task]!])]) };
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
