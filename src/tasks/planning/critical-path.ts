// Finds the critical path of a run: the longest chain of dependent tasks by duration. Pure.

export interface CriticalPath {
  /** Milliseconds. */
  readonly duration: number;
  /** Positions of tasks, in the order in which they run. */
  readonly tasks: readonly number[];
}

/**
 * @param durations milliseconds, by position
 * @param waitsFor by position; every dependency has a smaller position
 */
export function findCriticalPath(
  durations: readonly number[],
  waitsFor: readonly (readonly number[])[],
): CriticalPath {
  const ends: number[] = [];
  const before: (number | undefined)[] = [];
  let last: number | undefined;
  for (const [position, duration] of durations.entries()) {
    const latest = latestOf(waitsFor[position] ?? [], ends);
    before.push(latest);
    ends.push((latest === undefined ? 0 : ends[latest]!) + duration);
    if (last === undefined || ends[position]! > ends[last]!) last = position;
  }
  const tasks: number[] = [];
  for (let each = last; each !== undefined; each = before[each]) tasks.unshift(each);
  return { duration: last === undefined ? 0 : ends[last]!, tasks };
}

/** The position that ends last. */
function latestOf(positions: readonly number[], ends: readonly number[]): number | undefined {
  let latest: number | undefined;
  for (const position of positions)
    if (latest === undefined || ends[position]! > ends[latest]!) latest = position;
  return latest;
}
