// What `--dry-run` shows: the plan, with what is known of each script before it runs.
//
// Contract: nothing is started or written, and another machine is asked where --cache says so, for a while at most.
import { oneLine } from "../printable.ts";
import { Lane } from "./lane.ts";
import type { Plan } from "./plan.ts";
import { environmentOfCached } from "./report/choose.ts";
import type { OutputQueue } from "./report/output-queue.ts";
import type { CacheReason, Task, TaskRequest } from "./task.ts";
import { decideWhere, type Sketch, type Where } from "./where.ts";

/** What it waits for others at most. */
const PATIENCE = 10_000; // ms
/** Scripts that it looks at at a time. */
const AT_ONCE = 16;

export async function renderPreview(
  plan: Plan,
  request: TaskRequest,
  format: NonNullable<TaskRequest["dryRun"]>,
  queue: OutputQueue,
): Promise<string> {
  const reasons = await explainCached(plan, request, queue);
  if (format === "text" || format === "json") {
    const { renderPlan } = await import("./report/dry-run.ts");
    const { places, sketches } = await findPlaces(plan, request, reasons);
    const unshared = request.share && (await (await import("./share/open.ts")).findUnshared(plan, request));
    return renderPlan(plan, request, format, { reasons, places, sketches, unshared });
  }
  const { explainTasks } = await import("./reasons.ts");
  const { renderGraph } = await import("./report/plan-graph.ts");
  return renderGraph(plan, request, explainTasks(plan, request), reasons, format);
}

/** Why each script that is cached would run, or would not. */
async function explainCached(
  { tasks }: Plan,
  request: TaskRequest,
  queue: OutputQueue,
): Promise<ReadonlyMap<Task, CacheReason>> {
  const reasons = new Map<Task, CacheReason>();
  if (!request.explainCached) return reasons;
  const beside = await request.openBeside?.(tasks, (line) => void queue.write(2, `warn: ${oneLine(line)}\n`));
  const clock = beside && setTimeout(() => beside.abandon(), PATIENCE);
  const extra = environmentOfCached(request);
  const lane = new Lane(AT_ONCE);
  const explain = async (task: Task) => {
    const reason = await request.explainCached!(task, extra);
    if (reason) reasons.set(task, reason);
  };
  await Promise.all(tasks.map((task) => lane.run(0, () => explain(task))));
  clearTimeout(clock);
  request.closeCache?.();
  return reasons;
}

/** Where each script would run, and what would be sent of those that leave; none where nothing may. */
async function findPlaces(plan: Plan, request: TaskRequest, reasons: ReadonlyMap<Task, CacheReason>) {
  const places = new Map<Task, Where>();
  const { offerFor, sketchRemote } = request;
  if (offerFor)
    for (const task of plan.tasks) places.set(task, decideWhere(offerFor(task), reasons.get(task)));
  const remote = plan.tasks.filter((task) => places.get(task)?.place === "remote");
  const sketches: ReadonlyMap<Task, Sketch> =
    remote.length > 0 && sketchRemote ? await sketchRemote(remote, plan) : new Map();
  return { places, sketches };
}
