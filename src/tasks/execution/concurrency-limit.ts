// How many scripts of a run may be running at a time.
import { trees } from "../../../platform/processes/process-tree.ts";
import type { TaskRequest } from "../task.ts";

/** At least one; never more than the system gives descriptors for. */
export function chooseLimit({
  parallel,
  sequential,
  concurrency,
  openCached,
}: Pick<TaskRequest, "parallel" | "sequential" | "concurrency" | "openCached">): number {
  if (sequential) return 1;
  const wanted = concurrency ?? (parallel ? Number.POSITIVE_INFINITY : navigator.hardwareConcurrency);
  return Math.min(wanted, trees.childLimit(openCached !== undefined));
}
