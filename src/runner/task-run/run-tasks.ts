// Runs several scripts and returns the exit status of the run; never exits itself.
//
// Invariants:
// - The status is that of the first failure, or the first signal that rt received. Undelivered output is a failure.
// - Errors in the request are thrown before any script starts. An internal error ends all scripts and is then
//   thrown.
// - After the first signal a slow reader of the output is still awaited, after the second one not.
// - A watched run continues when no script runs: each round has its own reporters.
import { dependsOnChanges } from "../../config/settings/many.ts";
import { host } from "../../../platform/processes/process.ts";
import type { StopSignal } from "../../../platform/processes/contract/process-tree.ts";
import { colorLabel } from "../../output.ts";
import { oneLine } from "../../printable.ts";
import type { Reporter, TaskEvent } from "../../tasks/task-events.ts";
import { Executor } from "../../tasks/execution/executor.ts";
import { type TaskPlan, planTasks } from "../../tasks/planning/plan.ts";
import { chooseReporters, chooseSingleReporter, type Reporting } from "../../reporters/reporter-selection.ts";
import { OutputQueue } from "../../tasks/output-queue.ts";
import { chooseLimit } from "../../tasks/execution/concurrency-limit.ts";
import { type TaskFailure, type FailurePolicy, startSchedule } from "../../tasks/execution/schedule.ts";
import type { RunStatus, ScriptTask, TaskRequest, WatchHooks, TaskOutcome } from "../../tasks/task.ts";
import { choosePlacement, type RemoteRun } from "../../tasks/execution/placement.ts";

/** rt may be notified of a signal this much later than of the end that the signal caused. */
const SIGNAL_DELAY = 20; // ms

/** @param planned the plan, if the caller has computed it */
export async function runTasks(request: TaskRequest, planned?: TaskPlan): Promise<RunStatus> {
  const queue = new OutputQueue();
  if (request.scripts.length === 0) {
    const { listScripts } = await import("../../tasks/planning/script-list.ts");
    return await print(await listScripts(request, host.isTerminal(1)), queue);
  }
  const plan = planned ?? (await planTasks(request));
  if (request.dryRun) {
    const { renderPreview } = await import("./dry-run-preview.ts");
    const status = await print(await renderPreview(plan, request, request.dryRun, queue), queue);
    return status === 0 && plan.isIncomplete ? 1 : status;
  }
  await request.secrets?.fetch(plan.tasks);
  const notices = describeNotices(plan, request);
  const [singleTask] = plan.tasks;
  const canRunAlone = plan.tasks.length === 1 && !plan.isIncomplete && !request.share;
  const isScheduled = singleTask?.rule?.timeout !== undefined || (singleTask?.rule?.retries ?? 0) > 0;
  const isAlone = request.isSingle || ownsTerminal(request);
  if (singleTask && canRunAlone && request.runAlone && isAlone && !isScheduled) {
    for (const notice of notices) void queue.write(2, `${colorLabel(`warning: ${oneLine(notice)}`)}\n`);
    await queue.flush();
    return request.runAlone(singleTask);
  }
  const standsAlone = request.standsAlone || (request.isSingle && plan.tasks.length === 1);
  const status = await execute(plan, { ...request, standsAlone }, queue, notices);
  return status === 0 && plan.isIncomplete ? 1 : status;
}

/** Runs one cached or remote script, shown without prefixes. */
export async function runSingle(task: ScriptTask, request: TaskRequest): Promise<RunStatus> {
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
  return await execute(plan, { ...request, standsAlone: true }, queue, []);
}

async function print(text: string, queue: OutputQueue): Promise<RunStatus> {
  let status: RunStatus = 0;
  queue.onBroken = ({ code }) => (status = code === "EPIPE" ? { signal: "SIGPIPE" } : 1);
  void queue.write(1, text);
  await queue.flush();
  return status;
}

function describeNotices(
  { tasks, cycles, packageCount, notices, shard }: TaskPlan,
  { affected, filters, silent }: TaskRequest,
): string[] {
  const isNone = tasks.length === 0 && !shard?.shares.some(({ own }) => own.length > 0);
  if (isNone && dependsOnChanges({ affected, filters }) && !silent)
    return [
      ...notices,
      packageCount === 0 ? "No package is affected" : "No affected package has such a script",
    ];
  const loops = cycles.map((cycle) => `Circular dependency: ${[...cycle, cycle[0]].join(" -> ")}`);
  return [...notices, ...loops];
}

/** A single script inherits the terminal if there is nothing to prefix, summarize or report. */
function ownsTerminal({ reports, elideLines }: TaskRequest): boolean {
  return reports.length === 0 && !elideLines && host.isTerminal(1);
}

async function execute(
  plan: TaskPlan,
  request: TaskRequest,
  queue: OutputQueue,
  notices: readonly string[],
): Promise<RunStatus> {
  const isSingle = plan.tasks.length === 1;
  const { watcher } = request;
  const warn = (message: string) => void emit({ type: "notice", message });
  const connection = await request.cache?.connect(plan.tasks, warn);
  const shared =
    request.share &&
    (await (await import("../../tasks/leases/shared-run.ts")).openSharedRun(plan, request, warn));
  const choose = async (begun?: readonly ScriptTask[]): Promise<Reporting> =>
    request.standsAlone
      ? chooseSingleReporter(request, queue)
      : await chooseReporters(plan, request, queue, fail, begun);
  const remoteTasks = selectRemoteTasks(plan, request);
  const remote = remoteTasks.size > 0 ? await request.remote?.open([...remoteTasks], plan) : undefined;
  const reporting = await choose();
  const { output, extraEnvironment } = reporting;
  let { reporters } = reporting;
  let interruptedBy: NodeJS.Signals | undefined;
  let thrown: { readonly error: unknown } | undefined;
  let isComplete = true;
  let isOver = false;
  /** State of a watched run: whether it is being ended or idle, tasks to restart, and the waiter's callback. */
  let isEnding = false;
  let isIdle = false;
  let wanted: ScriptTask[] = [];
  let wake = () => {};
  let halt = () => {};
  const executor = new Executor({
    request,
    remote,
    output,
    inheritStdin: isSingle,
    extraEnvironment,
    emit,
    watcher,
    leases: shared?.leases,
    onInterrupt(signal) {
      if (interruptedBy || isOver) queue.hurry();
      interruptedBy ??= signal;
      connection?.abandon();
      remote?.abandon();
      halt();
      wake();
    },
    onSuspend: () => void queue.flush(),
  });
  queue.onBroken = ({ code }) => {
    isComplete = false;
    isEnding = true;
    if (code === "EPIPE") interruptedBy ??= "SIGPIPE";
    end();
  };
  for (const message of [...notices, ...(shared?.notices ?? [])]) warn(message);
  if (shared?.line !== undefined && !request.silent) void emit({ type: "remark", line: shared.line });
  if (plan.shard && !request.silent) {
    const { describeShard } = await import("../../tasks/planning/shard.ts");
    void emit({ type: "remark", line: describeShard(plan.shard) });
  }
  const schedule = startSchedule({
    tasks: plan.tasks,
    waitsFor: plan.waitsFor,
    // In a shared run the leases limit the number of running tasks.
    limit: shared?.leases ? Number.POSITIVE_INFINITY : chooseLimit(request),
    remoteTasks: remote && !request.sequential ? { limit: remoteLimit(remote, request), has } : undefined,
    onFailure: watcher && request.parallel ? "continue" : choosePolicy(request),
    run: (task) => executor.run(task),
    mayEnd: (task) => executor.watched.isRunning(task),
    settle: (task, outcome) =>
      void emit({ type: "task-end", task, outcome, at: executor.now(), duration: 0 }),
    stop: () => (watcher ? undefined : executor.stop("SIGTERM")),
  });
  halt = () => schedule.halt();
  if (interruptedBy || thrown) halt();
  if (watcher) begin(watcher);
  const failure = watcher ? await runRounds(watcher) : await schedule.finished.catch(fail);
  await executor.finish();
  await remote?.finish().catch(fail);
  const counts = await shared?.close?.();
  if (counts !== undefined && !request.silent) void emit({ type: "remark", line: counts });
  request.cache?.close();
  await connection?.finish();
  isOver = true;
  await finishReporters();
  // A signal may have arrived meanwhile and ended background processes of scripts.
  if (interruptedBy) await executor.finish();
  executor.close();
  if (interruptedBy) return { signal: interruptedBy };
  if (thrown) throw thrown.error;
  if (failure) return statusOf(failure.outcome);
  return isComplete ? 0 : 1;

  function has(task: ScriptTask): boolean {
    return remoteTasks.has(task);
  }

  function begin(watcher: WatchHooks): void {
    const { killSignal } = watcher;
    watcher.onBegin({
      again(tasks) {
        const reached = schedule.reach(tasks);
        if (isIdle) {
          wanted.push(...reached);
          wake();
        } else if (reached.length > 0) {
          void emit({ type: "again", tasks: reached });
          executor.watched.end(reached, killSignal);
          schedule.again(reached);
        }
        return reached;
      },
      end() {
        isEnding = true;
        end(killSignal);
      },
      say: (line) => void (isIdle ? queue.write(2, `${line}\n`) : emit({ type: "remark", line })),
      endOf: (tasks) => executor.watched.endOf(tasks),
      isRunning: (task) => executor.watched.isRunning(task),
    });
  }

  /** Runs rounds with separate reporters until the run is ended. */
  async function runRounds(watcher: WatchHooks): Promise<TaskFailure | null | void> {
    const isEnded = () => isEnding || interruptedBy !== undefined || thrown !== undefined;
    for (;;) {
      const failure = await schedule.finished.catch(fail);
      if (isEnded()) return failure;
      if (!schedule.isIdle) continue; // a restart was requested in the same turn
      isIdle = true;
      await finishReporters();
      // Ctrl-C reaches rt and a script in the terminal at the same time, and rt may be notified of the script's end
      // first.
      if (failure?.outcome.kind === "signal") await Bun.sleep(SIGNAL_DELAY);
      if (isEnded()) return failure;
      watcher.onIdle(failure ? statusOf(failure.outcome) : isComplete && !plan.isIncomplete ? 0 : 1);
      if (wanted.length === 0 && !isEnded()) await new Promise<void>((resolve) => (wake = resolve));
      if (isEnded()) return failure;
      await watcher.onRound();
      reporters = (await choose([])).reporters;
      executor.beginRound();
      const round = schedule.reach(wanted);
      wanted = [];
      isComplete = true;
      isIdle = false;
      void emit({ type: "again", tasks: round });
      executor.watched.end(round, watcher.killSignal);
      schedule.again(round);
    }
  }

  /** Ends all running tasks. */
  function end(signal: StopSignal = "SIGTERM"): void {
    halt();
    executor.stop(signal);
    wake();
  }

  async function finishReporters(): Promise<void> {
    const finishing = reporters;
    reporters = [];
    for (const reporter of finishing) if (!(await finishReporter(reporter))) isComplete = false;
    await queue.flush();
  }

  function fail(error: unknown): void {
    thrown ??= { error };
    end();
  }

  /** An error of a reporter must not reject the promise that tasks wait for. */
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

/** Tasks that run remotely unless they are cache hits. */
function selectRemoteTasks({ tasks }: TaskPlan, { remote }: TaskRequest): ReadonlySet<ScriptTask> {
  if (!remote) return new Set();
  return new Set(tasks.filter((task) => choosePlacement(remote.eligibilityOf(task)).place === "remote"));
}

/** Remote tasks use no resources of this machine, so `--parallel` does not limit them. */
function remoteLimit({ limit }: RemoteRun, { parallel }: TaskRequest): number {
  return parallel ? Number.POSITIVE_INFINITY : limit;
}

function broadcast(reporters: readonly Reporter[], event: TaskEvent): void | Promise<void> {
  let pending: Promise<void> | undefined;
  for (const reporter of reporters) {
    const wait = reporter.report(event);
    if (wait) pending = pending ? Promise.all([pending, wait]).then(() => {}) : wait;
  }
  return pending;
}

function choosePolicy({ parallel, sequential, noExitOnError }: TaskRequest): FailurePolicy {
  if (noExitOnError) return "continue";
  return parallel || sequential ? "stop" : "skip";
}

function statusOf(outcome: TaskOutcome): RunStatus {
  if (outcome.kind === "signal") return { signal: outcome.signal };
  return outcome.kind === "failure" || outcome.kind === "unstartable" ? outcome.code : 1;
}
