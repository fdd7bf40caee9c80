// Runs many scripts: the one entry of this folder.
//
// Contract: returns the run's status and never exits by itself. The status is that of the failure that came
// first; a signal that rt itself received wins, the first of them. Errors in the request are thrown (Failure,
// PackageJsonError) before anything has started; one of rt's own ends everything, and is thrown when that has ended. What
// could not be delivered makes the run a failure. After the first signal the output's reader is waited for, after the
// second one that reads nothing is not. A run that is watched is not over when nothing runs: what the reporters say at the
// end they say then, and the next round has others.
import { host } from "../../../platform/processes/process.ts";
import type { StopSignal } from "../../../platform/processes/contract/process-tree.ts";
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

/** How much later rt may hear of a signal than of the end that it made of a script. */
const SIGNAL_DELAY = 20; // ms

/** @param planned what `planTasks` has made of the request, where the caller has asked it */
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
  await request.prepare?.(plan.tasks);
  const notices = describeNotices(plan, request);
  const [alone] = plan.tasks;
  const mayStandAlone = plan.tasks.length === 1 && !plan.isIncomplete && !request.share;
  if (alone && mayStandAlone && request.runAlone && ownsTerminal(request)) {
    for (const notice of notices) void queue.write(2, `warn: ${oneLine(notice)}\n`);
    await queue.flush();
    return request.runAlone(alone);
  }
  const status = await execute(plan, request, queue, notices);
  return status === 0 && plan.isIncomplete ? 1 : status;
}

/** One script that is cached, or runs remoteTasks, as if it stood alone at the terminal. */
export async function runSingle(task: ScriptTask, request: TaskRequest): Promise<RunStatus> {
  await request.prepare?.([task]);
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
  { affected, silent }: TaskRequest,
): string[] {
  const isNone = tasks.length === 0 && !shard?.shares.some(({ own }) => own.length > 0);
  if (isNone && affected !== undefined && !silent)
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
  const tell = (message: string) => void emit({ type: "notice", message });
  const beside = await request.openBackgroundWork?.(plan.tasks, tell);
  const shared =
    request.share &&
    (await (await import("../../tasks/leases/shared-run.ts")).openSharedRun(plan, request, tell));
  const choose = async (begun?: readonly ScriptTask[]): Promise<Reporting> =>
    request.standsAlone
      ? chooseSingleReporter(request, queue)
      : await chooseReporters(plan, request, queue, fail, begun);
  const remoteTasks = selectRemoteTasks(plan, request);
  const remote = remoteTasks.size > 0 ? await request.openRemote?.([...remoteTasks], plan) : undefined;
  const reporting = await choose();
  const { output, extraEnvironment } = reporting;
  let { reporters } = reporting;
  let interruptedBy: NodeJS.Signals | undefined;
  let thrown: { readonly error: unknown } | undefined;
  let isComplete = true;
  let isOver = false;
  /** Of a watched run: it was ended; nothing runs; what is asked for meanwhile, and who waits for that. */
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
      beside?.abandon();
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
  for (const message of [...notices, ...(shared?.notices ?? [])]) tell(message);
  if (shared?.line !== undefined && !request.silent) void emit({ type: "remark", line: shared.line });
  if (plan.shard && !request.silent) {
    const { describeShard } = await import("../../tasks/planning/shard.ts");
    void emit({ type: "remark", line: describeShard(plan.shard) });
  }
  const schedule = startSchedule({
    tasks: plan.tasks,
    waitsFor: plan.waitsFor,
    // Which of those that could start do, is then a matter of all machines.
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
  const failure = watcher ? await goOn(watcher) : await schedule.finished.catch(fail);
  await executor.finish();
  await remote?.finish().catch(fail);
  const counts = await shared?.close?.();
  if (counts !== undefined && !request.silent) void emit({ type: "remark", line: counts });
  request.closeCache?.();
  await beside?.finish();
  isOver = true;
  await finishReporters();
  // Meanwhile a signal may have come, and with it the end of what scripts have left.
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

  /** Round after round, each with reporters of its own, until the run is ended. */
  async function goOn(watcher: WatchHooks): Promise<TaskFailure | null | void> {
    const isEnded = () => isEnding || interruptedBy !== undefined || thrown !== undefined;
    for (;;) {
      const failure = await schedule.finished.catch(fail);
      if (isEnded()) return failure;
      if (!schedule.isIdle) continue; // something was asked for again in this moment
      isIdle = true;
      await finishReporters();
      // Ctrl-C reaches a script that has the terminal as soon as rt, which may hear of its end first.
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

  /** Nothing is left running, whatever went wrong. */
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

/** Tasks that run remotely unless they are cache hits. */
function selectRemoteTasks({ tasks }: TaskPlan, { eligibilityOf }: TaskRequest): ReadonlySet<ScriptTask> {
  if (!eligibilityOf) return new Set();
  return new Set(tasks.filter((task) => choosePlacement(eligibilityOf(task)).place === "remote"));
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
