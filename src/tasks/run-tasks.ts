// Runs many scripts: the one entry of this folder.
//
// Contract: returns the run's status and never exits by itself. The status is that of the failure that came
// first; a signal that rt itself received wins. Errors in the request are thrown (Failure,
// PackageJsonError) before anything has started.
import { host } from "../../platform/process.ts";
import { trees } from "../../platform/process-tree.ts";
import type { Outcome, Reporter, TaskEvent } from "./event.ts";
import { Executor } from "./execute.ts";
import { type Plan, planTasks } from "./plan.ts";
import { chooseReporters } from "./report/choose.ts";
import { OutputQueue } from "./report/output-queue.ts";
import { type Failure, type FailurePolicy, startSchedule } from "./schedule.ts";
import type { RunStatus, TaskRequest } from "./task.ts";

export type { Command, CommandRequest, RunStatus, Task, TaskRequest } from "./task.ts";

export async function runTasks(request: TaskRequest): Promise<RunStatus> {
  const queue = new OutputQueue();
  if (request.scripts.length === 0) {
    const { listScripts } = await import("./list.ts");
    queue.write(1, await listScripts(request, host.isTerminal(1)));
    await queue.flush();
    return 0;
  }
  const plan = await planTasks(request);
  if (request.dryRun) {
    const { renderPlan } = await import("./report/dry-run.ts");
    queue.write(1, renderPlan(plan, request, request.dryRun));
    await queue.flush();
    return plan.isIncomplete ? 1 : 0;
  }
  const notices = describeNotices(plan, request);
  const [alone] = plan.tasks;
  if (alone && plan.tasks.length === 1 && request.runAlone && notices.length === 0 && ownsTerminal(request)) {
    return request.runAlone(alone);
  }
  const status = await execute(plan, request, queue, notices);
  return status === 0 && plan.isIncomplete ? 1 : status;
}

function describeNotices(
  { tasks, cycles, packageCount, notices }: Plan,
  { affected, silent }: TaskRequest,
): string[] {
  if (tasks.length === 0 && affected !== undefined && !silent)
    return [
      ...notices,
      packageCount === 0 ? "No package is affected" : "No package that is affected has such a script",
    ];
  const loops = cycles.map(
    (cycle) => `These packages depend on each other in a circle: ${[...cycle, cycle[0]].join(" -> ")}`,
  );
  return [...notices, ...loops];
}

/** With nothing to prefix, summarise or report, a single script is best left alone with its terminal. */
function ownsTerminal({ report, elideLines }: TaskRequest): boolean {
  return report === undefined && !elideLines && host.isTerminal(1);
}

async function execute(
  plan: Plan,
  request: TaskRequest,
  queue: OutputQueue,
  notices: readonly string[],
): Promise<RunStatus> {
  const isSingle = plan.tasks.length === 1;
  const { reporters, output, extraEnvironment } = await chooseReporters(plan, request, queue);
  const emit = (event: TaskEvent) => broadcast(reporters, event);
  let interruptedBy: NodeJS.Signals | undefined;
  let halt = () => {};
  const executor = new Executor({
    request,
    output,
    inheritStdin: isSingle,
    extraEnvironment,
    emit,
    onInterrupt(signal) {
      interruptedBy ??= signal;
      halt();
    },
    onSuspend: () => void queue.flush(),
  });
  let isComplete = true;
  queue.onBroken = ({ code }) => {
    isComplete = false;
    if (code === "EPIPE") interruptedBy ??= "SIGPIPE";
    halt();
    executor.stop("SIGTERM");
  };
  for (const message of notices) emit({ type: "notice", message });
  const schedule = startSchedule({
    tasks: plan.tasks,
    waitsFor: plan.waitsFor,
    limit: chooseLimit(request),
    onFailure: choosePolicy(request),
    run: (task) => executor.run(task),
    settle: (task, outcome) =>
      void emit({ type: "task-end", task, outcome, at: executor.now(), duration: 0 }),
    stop: () => executor.stop("SIGTERM"),
  });
  halt = () => schedule.halt();
  if (interruptedBy) halt();
  let failure: Failure | null;
  try {
    failure = await schedule.finished;
  } catch (error) {
    executor.stop("SIGTERM"); // nothing is left running, whatever went wrong
    throw error;
  } finally {
    await executor.finish();
    for (const reporter of reporters) if ((await reporter.finish()) === false) isComplete = false;
    await queue.flush();
  }
  if (interruptedBy) return dieBy(interruptedBy);
  if (failure === null) return isComplete ? 0 : 1;
  return statusOf(failure.outcome);
}

function broadcast(reporters: readonly Reporter[], event: TaskEvent): void | Promise<void> {
  let pending: Promise<void> | undefined;
  for (const reporter of reporters) {
    const wait = reporter.report(event);
    if (wait) pending = pending ? Promise.all([pending, wait]).then(() => {}) : wait;
  }
  return pending;
}

function chooseLimit({ parallel, sequential, concurrency }: TaskRequest): number {
  if (sequential) return 1;
  const wanted = concurrency ?? (parallel ? Number.POSITIVE_INFINITY : navigator.hardwareConcurrency);
  return Math.min(wanted, trees.childLimit());
}

function choosePolicy({ parallel, sequential, noExitOnError }: TaskRequest): FailurePolicy {
  if (noExitOnError) return "continue";
  return parallel || sequential ? "stop" : "skip";
}

function statusOf(outcome: Outcome): RunStatus {
  if (outcome.kind === "signal") return dieBy(outcome.signal);
  return outcome.kind === "failure" || outcome.kind === "unstartable" ? outcome.code : 1;
}

/** The engine ignores these two, so that raising them would do nothing: the number that shells make of them. */
const IGNORED_BY_ENGINE: Partial<Record<NodeJS.Signals, number>> = { SIGPIPE: 128 + 13, SIGXFSZ: 128 + 25 };

function dieBy(signal: NodeJS.Signals): RunStatus {
  return IGNORED_BY_ENGINE[signal] ?? { signal };
}
