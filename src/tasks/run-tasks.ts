// Runs many scripts: the one entry of this folder.
//
// Contract: returns the run's status and never exits by itself. The status is that of the failure that came
// first; a signal that rt itself received wins, the first of them. Errors in the request are thrown (Failure,
// PackageJsonError) before anything has started; one of rt's own ends everything, and is thrown when that has ended. What
// could not be delivered makes the run a failure. After the first signal the output's reader is waited for, after the
// second one that reads nothing is not.
import { host } from "../../platform/process.ts";
import { trees } from "../../platform/process-tree.ts";
import type { Outcome, Reporter, TaskEvent } from "./event.ts";
import { Executor } from "./execute.ts";
import { type Plan, planTasks } from "./plan.ts";
import { chooseReporters, chooseSingleReporter, type Reporting } from "./report/choose.ts";
import { OutputQueue } from "./report/output-queue.ts";
import { type FailurePolicy, startSchedule } from "./schedule.ts";
import type { RunStatus, Task, TaskRequest } from "./task.ts";

export type { CachedTask, Command, CommandRequest, RunStatus, Task, TaskRequest } from "./task.ts";

export async function runTasks(request: TaskRequest): Promise<RunStatus> {
  const queue = new OutputQueue();
  if (request.scripts.length === 0) {
    const { listScripts } = await import("./list.ts");
    return await print(await listScripts(request, host.isTerminal(1)), queue);
  }
  const plan = await planTasks(request);
  if (request.dryRun) {
    const { renderPlan } = await import("./report/dry-run.ts");
    const status = await print(renderPlan(plan, request, request.dryRun), queue);
    return status === 0 && plan.isIncomplete ? 1 : status;
  }
  const notices = describeNotices(plan, request);
  const [alone] = plan.tasks;
  if (alone && plan.tasks.length === 1 && request.runAlone && notices.length === 0 && ownsTerminal(request)) {
    return request.runAlone(alone);
  }
  const status = await execute(plan, request, queue, notices);
  return status === 0 && plan.isIncomplete ? 1 : status;
}

/** One script that is cached, as if it stood alone at the terminal. */
export async function runSingle(task: Task, request: TaskRequest): Promise<RunStatus> {
  const queue = new OutputQueue();
  const plan: Plan = {
    tasks: [task],
    waitsFor: [[]],
    cycles: [],
    packageCount: 1,
    notices: [],
    isIncomplete: false,
  };
  return await execute(plan, request, queue, [], chooseSingleReporter(request, queue));
}

async function print(text: string, queue: OutputQueue): Promise<RunStatus> {
  let status: RunStatus = 0;
  queue.onBroken = ({ code }) => (status = code === "EPIPE" ? dieBy("SIGPIPE") : 1);
  void queue.write(1, text);
  await queue.flush();
  return status;
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
  chosen?: Reporting,
): Promise<RunStatus> {
  const isSingle = plan.tasks.length === 1;
  const reporting = chosen ?? (await chooseReporters(plan, request, queue, fail));
  const { reporters, output, extraEnvironment } = reporting;
  let interruptedBy: NodeJS.Signals | undefined;
  let thrown: { readonly error: unknown } | undefined;
  let isComplete = true;
  let isOver = false;
  let halt = () => {};
  const executor = new Executor({
    request,
    output,
    inheritStdin: isSingle,
    extraEnvironment,
    emit,
    onInterrupt(signal) {
      if (interruptedBy || isOver) queue.hurry();
      interruptedBy ??= signal;
      halt();
    },
    onSuspend: () => void queue.flush(),
  });
  queue.onBroken = ({ code }) => {
    isComplete = false;
    if (code === "EPIPE") interruptedBy ??= "SIGPIPE";
    end();
  };
  for (const message of notices) void emit({ type: "notice", message });
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
  if (interruptedBy || thrown) halt();
  const failure = await schedule.finished.catch(fail);
  await executor.finish();
  isOver = true;
  for (const reporter of reporters) if (!(await finishReporter(reporter))) isComplete = false;
  await queue.flush();
  executor.close();
  if (interruptedBy) return dieBy(interruptedBy);
  if (thrown) throw thrown.error;
  if (failure) return statusOf(failure.outcome);
  return isComplete ? 0 : 1;

  /** Nothing is left running, whatever went wrong. */
  function end(): void {
    halt();
    executor.stop("SIGTERM");
  }

  function fail(error: unknown): void {
    thrown ??= { error };
    end();
  }

  /** What waits for this must not be lost with a fault of a reporter's. */
  function emit(event: TaskEvent): void | Promise<void> {
    try {
      return broadcast(reporters, event)?.catch(fail);
    } catch (error) {
      fail(error);
    }
  }

  async function finishReporter(reporter: Reporter): Promise<boolean> {
    try {
      return (await reporter.finish()) !== false;
    } catch (error) {
      fail(error);
      return false;
    }
  }
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
