// What `--dry-run` shows: the plan, with what is known of each script before it runs.
//
// Contract: nothing is started or written, and another machine is asked where --cache says so, for a while at most.
import { oneLine } from "../../printable.ts";
import { ConcurrencyLimiter } from "../../tasks/execution/concurrency-limiter.ts";
import type { TaskPlan } from "../../tasks/planning/plan.ts";
import { environmentOfCached } from "../../reporters/reporter-selection.ts";
import type { OutputQueue } from "../../tasks/output-queue.ts";
import type { CacheReason, ScriptTask, TaskRequest } from "../../tasks/task.ts";
import { choosePlacement, type RemotePreview, type Placement } from "../../tasks/execution/placement.ts";

/** What it waits for others at most. */
const PATIENCE = 10_000; // ms
/** Scripts that it looks at at a time. */
const AT_ONCE = 16;

export async function renderPreview(
  plan: TaskPlan,
  request: TaskRequest,
  format: NonNullable<TaskRequest["dryRun"]>,
  queue: OutputQueue,
): Promise<string> {
  const reasons = await explainCached(plan, request, queue);
  if (format === "text" || format === "json") {
    const { renderPlan } = await import("../../reporters/plan/dry-run.ts");
    const { placements, previews } = await findPlaces(plan, request, reasons);
    const unshared =
      request.share && (await (await import("../../tasks/leases/shared-run.ts")).findUnshared(plan, request));
    return renderPlan(plan, request, format, { reasons, placements, previews, unshared });
  }
  const { explainTasks } = await import("../../tasks/planning/selection-reasons.ts");
  const { renderGraph } = await import("../../reporters/plan/plan-graph.ts");
  return renderGraph(plan, request, explainTasks(plan, request), reasons, format);
}

/** Why each script that is cached would run, or would not. */
async function explainCached(
  { tasks }: TaskPlan,
  request: TaskRequest,
  queue: OutputQueue,
): Promise<ReadonlyMap<ScriptTask, CacheReason>> {
  const reasons = new Map<ScriptTask, CacheReason>();
  if (!request.explainCached) return reasons;
  const beside = await request.openBackgroundWork?.(
    tasks,
    (line) => void queue.write(2, `warn: ${oneLine(line)}\n`),
  );
  const clock = beside && setTimeout(() => beside.abandon(), PATIENCE);
  const extra = environmentOfCached(request);
  const lane = new ConcurrencyLimiter(AT_ONCE);
  const explain = async (task: ScriptTask) => {
    const reason = await request.explainCached!(task, extra);
    if (reason) reasons.set(task, reason);
  };
  await Promise.all(tasks.map((task) => lane.run(0, () => explain(task))));
  clearTimeout(clock);
  request.closeCache?.();
  return reasons;
}

/** Where each script would run, and what would be sent of those that leave; none where nothing may. */
async function findPlaces(
  plan: TaskPlan,
  request: TaskRequest,
  reasons: ReadonlyMap<ScriptTask, CacheReason>,
) {
  const placements = new Map<ScriptTask, Placement>();
  const { eligibilityOf, previewRemote } = request;
  if (eligibilityOf)
    for (const task of plan.tasks)
      placements.set(task, choosePlacement(eligibilityOf(task), reasons.get(task)));
  const remote = plan.tasks.filter((task) => placements.get(task)?.place === "remote");
  const previews: ReadonlyMap<ScriptTask, RemotePreview> =
    remote.length > 0 && previewRemote ? await previewRemote(remote, plan) : new Map();
  return { placements, previews };
}
