// Ranks tasks by remaining critical path, so that a machine of a shared run starts the longest chain first.
// Pure.

/**
 * Returns for each task the time from its start to the end of all its dependents with unlimited machines.
 * @param durations milliseconds, by position
 * @param waitsFor by position; every dependency has a smaller position
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
