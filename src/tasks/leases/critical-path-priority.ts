// Which script a machine takes first: the one with the most work behind it, so that the chain which takes longest begins
// first. Pure.

/**
 * For each task, the time from its beginning to the end of all that waits for it, were there any number of machines.
 *
 * @param durations milliseconds, by position
 * @param waitsFor by position; each smaller than the position itself, as a plan has them
 */
export function rankTasks(
  durations: readonly number[],
  waitsFor: readonly (readonly number[])[],
): readonly number[] {
  const ranks = [...durations];
  const behind = durations.map(() => 0);
  for (let position = durations.length - 1; position >= 0; position -= 1) {
    ranks[position] = durations[position]! + behind[position]!;
    for (const target of waitsFor[position] ?? [])
      behind[target] = Math.max(behind[target]!, ranks[position]!);
  }
  return ranks;
}
