// Chooses the concurrency limit of a run: how many scripts may run at the same time.
import { trees } from "../../../platform/processes/process-tree.ts";
import { countLongRunning } from "../long-running.ts";
import type { ScriptTask, TaskRequest } from "../task.ts";

/**
 * Returns at least 1 and at most the number of children that the descriptor limit allows. Servers raise the default,
 * because one that waits for a free slot would never start.
 */
export function chooseLimit(
  {
    parallel,
    sequential,
    concurrency,
    cache,
  }: Pick<TaskRequest, "parallel" | "sequential" | "concurrency" | "cache">,
  tasks: readonly ScriptTask[],
): number {
  if (sequential) return 1;
  const wanted =
    concurrency ?? (parallel ? Infinity : navigator.hardwareConcurrency + countLongRunning(tasks));
  return Math.min(wanted, trees.childLimit(cache !== undefined));
}
