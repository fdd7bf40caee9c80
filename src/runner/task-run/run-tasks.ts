// Runs several scripts, or shows what would run, and returns the exit status; never exits itself.
//
// Invariants: errors in the request are thrown before any script starts.
import { dependsOnChanges } from "../../config/settings/many.ts";
import { isAdopting } from "../../../platform/permissions/adoption.ts";
import { host } from "../../../platform/processes/process.ts";
import { colorLabel } from "../../output.ts";
import { oneLine } from "../../printable.ts";
import type { TaskPlan } from "../../tasks/planning/plan.ts";
import { OutputQueue } from "../../tasks/output-queue.ts";
import type { RunStatus, ScriptTask, TaskRequest } from "../../tasks/task.ts";
import { reportPhase } from "../phase-times.ts";
import { forgetReplacement } from "../script/replacement.ts";
import { TaskRun } from "./task-run.ts";

/** @param planned the plan, if the caller has computed it */
export async function runTasks(request: TaskRequest, planned?: TaskPlan): Promise<RunStatus> {
  const queue = new OutputQueue();
  if (request.scripts.length === 0) {
    const { listScripts } = await import("../../tasks/planning/script-list.ts");
    return await print(await listScripts(request, host.isTerminal(1)), queue);
  }
  const plan = planned ?? (await (await import("../../tasks/planning/plan.ts")).planTasks(request));
  reportPhase("plan");
  if (request.dryRun) {
    const { renderPreview } = await import("./dry-run-preview.ts");
    const status = await print(await renderPreview(plan, request, request.dryRun, queue), queue);
    return status === 0 && plan.isIncomplete ? 1 : status;
  }
  await request.permissions?.prepare(plan.tasks);
  await request.secrets?.fetch(plan.tasks);
  const notices = describeNotices(plan, request);
  const [singleTask] = plan.tasks;
  const canRunAlone = plan.tasks.length === 1 && !plan.isIncomplete && !request.share;
  const { timeout, retries = 0, service, restart } = singleTask?.rule ?? {};
  const isRestricted = singleTask !== undefined && (request.permissions?.isRestricted(singleTask) ?? false);
  const isScheduled =
    isRestricted || timeout !== undefined || retries > 0 || (service && restart !== undefined);
  const isAlone = request.isSingle || ownsTerminal(request);
  if (singleTask && canRunAlone && request.runAlone && isAlone && !isScheduled) {
    if (!request.isSingle) forgetReplacement(); // the terminal has decided
    for (const notice of notices) void queue.write(2, `${colorLabel(`warning: ${oneLine(notice)}`)}\n`);
    await queue.flush();
    return request.runAlone(singleTask);
  }
  const isOne = plan.tasks.length === 1 && !plan.isIncomplete && request.isSingle && notices.length === 0;
  if (!isOne || !isRestricted) forgetReplacement();
  const isAdoptable = isOne && isRestricted && singleTask.steps.length === 1;
  if (isAdopting() && !isAdoptable) (await import("./replayed-permissions.ts")).refuseOther();
  const standsAlone = request.standsAlone || (request.isSingle && plan.tasks.length === 1);
  // Redaction needs pipes, and a cached task has no terminal.
  const needsPipes = request.secrets !== undefined || singleTask?.rule?.cache === true;
  const inheritsTerminal =
    isRestricted && isAlone && !needsPipes && !singleTask.rule?.timeout && host.isTerminal(1);
  const status = await new TaskRun(plan, { ...request, standsAlone, inheritsTerminal }, queue).run(notices);
  return status === 0 && plan.isIncomplete ? 1 : status;
}

/** Runs one cached or remote script, shown without prefixes. */
export async function runSingle(task: ScriptTask, request: TaskRequest): Promise<RunStatus> {
  await request.permissions?.prepare([task]);
  await request.secrets?.fetch([task]);
  const queue = new OutputQueue();
  const plan: TaskPlan = {
    tasks: [task],
    waitsFor: [[]],
    cycles: [],
    packageCount: 1,
    notices: [],
    isIncomplete: false,
  };
  return await new TaskRun(plan, { ...request, standsAlone: true }, queue).run([]);
}

async function print(text: string, queue: OutputQueue): Promise<RunStatus> {
  let status: RunStatus = 0;
  queue.onBroken = ({ code }) => (status = code === "EPIPE" ? { signal: "SIGPIPE" } : 1);
  void queue.write(1, text);
  await queue.flush();
  return status;
}

function describeNotices(
  { tasks, cycles, packageCount, notices, shard, selection }: TaskPlan,
  { affected, filters, silent }: TaskRequest,
): string[] {
  const isNone = tasks.length === 0 && !shard?.shares.some(({ own }) => own.length > 0);
  if (isNone && dependsOnChanges({ affected, filters }) && !silent)
    return [
      ...notices,
      packageCount === 0
        ? "No package is affected"
        : selection?.leftOut.some(({ isRecorded }) => isRecorded)
          ? "No such task is affected"
          : "No affected package has such a script",
    ];
  const loops = cycles.map((cycle) => `Circular dependency: ${[...cycle, cycle[0]].join(" -> ")}`);
  return [...notices, ...loops];
}

/** A single script inherits the terminal if there is nothing to prefix, summarize or report. */
function ownsTerminal({ reports, elideLines, output, logPrefix }: TaskRequest): boolean {
  const isChanged = output === "errors" || output === "json" || logPrefix === "task";
  return reports.length === 0 && !elideLines && !isChanged && host.isTerminal(1);
}
