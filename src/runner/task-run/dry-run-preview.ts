// Collects what `--dry-run` shows: the plan, cache reasons, placements and remote inputs.
//
// Invariants: no script is started and nothing is written. The shared cache is queried only if --cache requests it,
// with a timeout.
import { colorLabel } from "../../output.ts";
import { oneLine } from "../../printable.ts";
import { ConcurrencyLimiter } from "../../tasks/execution/concurrency-limiter.ts";
import type { TaskPlan } from "../../tasks/planning/plan.ts";
import { environmentOfCached } from "../../reporters/reporter-selection.ts";
import { taskNameOf } from "../../tasks/labels.ts";
import type { OutputQueue } from "../../tasks/output-queue.ts";
import type { CacheReason } from "../../tasks/task-cache.ts";
import type { ScriptTask, TaskRequest } from "../../tasks/task.ts";
import { choosePlacement, type RemotePreview, type Placement } from "../../tasks/execution/placement.ts";

/** Maximum time for the shared cache. */
const REMOTE_TIMEOUT = 10_000; // ms
const MAX_LOOKUPS = 16;

export async function renderPreview(
  plan: TaskPlan,
  request: TaskRequest,
  format: NonNullable<TaskRequest["dryRun"]>,
  queue: OutputQueue,
): Promise<string> {
  const reasons = withDependencies(await explainCached(plan, request, queue), plan);
  if (format === "text" || format === "json") {
    const { renderPlan } = await import("../../reporters/plan/dry-run.ts");
    const { placements, previews } = await findPlacements(plan, request, reasons);
    const unshared =
      request.share && (await (await import("../../tasks/leases/shared-run.ts")).findUnshared(plan, request));
    return renderPlan(plan, request, format, { reasons, placements, previews, unshared });
  }
  const { explainTasks } = await import("../../tasks/planning/selection-reasons.ts");
  const { renderGraph } = await import("../../reporters/plan/plan-graph.ts");
  return renderGraph(plan, request, explainTasks(plan, request), reasons, format);
}

/** Explains for each task with a cache rule whether it would run. */
async function explainCached(
  { tasks }: TaskPlan,
  request: TaskRequest,
  queue: OutputQueue,
): Promise<ReadonlyMap<ScriptTask, CacheReason>> {
  const reasons = new Map<ScriptTask, CacheReason>();
  const { cache } = request;
  if (!cache) return reasons;
  const connection = await cache.connect(
    tasks,
    (line) => void queue.write(2, `${colorLabel(`warning: ${oneLine(line)}`)}\n`),
  );
  const timer = connection && setTimeout(() => connection.abandon(), REMOTE_TIMEOUT);
  const extra = environmentOfCached(request);
  const limiter = new ConcurrencyLimiter(MAX_LOOKUPS);
  const explain = async (task: ScriptTask) => {
    const reason = await cache.explain(task, extra);
    if (reason) reasons.set(task, reason);
  };
  await Promise.all(tasks.map((task) => limiter.run(0, () => explain(task))));
  clearTimeout(timer);
  cache.close();
  return reasons;
}

/** A cached task runs if a task that it depends on runs, unless that leaves its inputs unchanged. A service has no outputs. */
function withDependencies(
  reasons: ReadonlyMap<ScriptTask, CacheReason>,
  { tasks, dependsOn }: TaskPlan,
): ReadonlyMap<ScriptTask, CacheReason> {
  if (!dependsOn) return reasons;
  const all = new Map(reasons);
  for (const task of tasks) {
    const reason = all.get(task);
    if (!reason?.isHit) continue;
    const cause = dependsOn[task.index]!.map((index) => tasks[index]!).find(
      (each) => !all.get(each)?.isHit && !each.rule?.service,
    );
    if (cause) all.set(task, { ...reason, isHit: false, why: `depends on ${taskNameOf(cause)}`, cause });
  }
  return all;
}

/** The placement of each task, and what would be sent for remote ones; empty without a server. */
async function findPlacements(
  plan: TaskPlan,
  request: TaskRequest,
  reasons: ReadonlyMap<ScriptTask, CacheReason>,
) {
  const placements = new Map<ScriptTask, Placement>();
  const { remote: runner } = request;
  if (!runner) return { placements, previews: new Map<ScriptTask, RemotePreview>() };
  for (const task of plan.tasks)
    placements.set(task, choosePlacement(runner.eligibilityOf(task), reasons.get(task)));
  const remote = plan.tasks.filter((task) => placements.get(task)?.place === "remote");
  const previews: ReadonlyMap<ScriptTask, RemotePreview> =
    remote.length > 0 ? await runner.preview(remote, plan) : new Map();
  return { placements, previews };
}
