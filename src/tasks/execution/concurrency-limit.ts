// Chooses the concurrency limit of a run: how many scripts may run at the same time.
import { trees } from "../../../platform/processes/process-tree.ts";
import type { TaskRequest } from "../task.ts";

/** Returns at least 1 and at most the number of children that the descriptor limit allows. */
export function chooseLimit({
  parallel,
  sequential,
  concurrency,
  cache,
}: Pick<TaskRequest, "parallel" | "sequential" | "concurrency" | "cache">): number {
  if (sequential) return 1;
  const wanted = concurrency ?? (parallel ? Number.POSITIVE_INFINITY : navigator.hardwareConcurrency);
  return Math.min(wanted, trees.childLimit(cache !== undefined));
}
