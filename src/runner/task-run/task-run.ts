// One run of a plan: connects to the shared cache, the coordinator and the server, runs the schedule, and reports.
//
// Invariants:
// - The status is that of the first failure, or the first signal that rt received. Undelivered output is a failure.
// - An internal error ends all scripts and is then thrown.
// - After the first signal a slow reader of the output is still awaited, after the second one not.
// - A watched run continues when no script runs: each round has its own reporters.
import { trees } from "../../../platform/processes/process-tree.ts";
import type { StopSignal } from "../../../platform/processes/contract/process-tree.ts";
import type { ListReporter } from "../../reporters/list/list-contract.ts";
import {
  chooseReporters,
  chooseSingleReporter,
  createBackgroundReporter,
  type Reporting,
} from "../../reporters/reporter-selection.ts";
import { chooseLimit } from "../../tasks/execution/concurrency-limit.ts";
import { Executor } from "../../tasks/execution/executor.ts";
import { choosePlacement, type RemoteRun } from "../../tasks/execution/placement.ts";
import { type FailurePolicy, Schedule, type TaskFailure } from "../../tasks/execution/schedule.ts";
import { describeOutcome, labelOf } from "../../tasks/labels.ts";
import type { SharedRun } from "../../tasks/leases/shared-run.ts";
import { countLongRunning } from "../../tasks/long-running.ts";
import type { OutputQueue } from "../../tasks/output-queue.ts";
import type { TaskPlan } from "../../tasks/planning/plan.ts";
import type { SharedCacheConnection } from "../../tasks/task-cache.ts";
import type { RunStatus, ScriptTask, TaskOutcome, TaskRequest, WatchHooks } from "../../tasks/task.ts";
import { ReporterGroup } from "./reporter-group.ts";
import { createListHooks, WatchRounds } from "./watch-rounds.ts";

interface Connections {
  readonly cache: SharedCacheConnection | undefined;
  readonly shared: SharedRun | undefined;
  readonly remote: RemoteRun | undefined;
  /** Tasks that run remotely unless they are cache hits. */
  readonly remoteTasks: ReadonlySet<ScriptTask>;
}

export class TaskRun {
  readonly #plan: TaskPlan;
  readonly #request: TaskRequest;
  readonly #queue: OutputQueue;
  readonly #reporters = new ReporterGroup((error) => this.#fail(error));
  #executor: Executor | undefined;
  #schedule: Schedule | undefined;
  #rounds: WatchRounds | undefined;
  /** The list of tasks restarts and stops tasks, so its run has hooks as a watched run has. */
  #list: ListReporter | undefined;
  #watcher: WatchHooks | undefined;
  #interruptedBy: NodeJS.Signals | undefined;
  #thrown: { readonly error: unknown } | undefined;
  /** Whether all output and reports of the round were delivered. */
  #isComplete = true;
  /** Whether a write failed, which ends a watched run. */
  #isOutputLost = false;
  /** Only reporters still work. */
  #isOver = false;

  constructor(plan: TaskPlan, request: TaskRequest, queue: OutputQueue) {
    this.#plan = plan;
    this.#request = request;
    this.#queue = queue;
  }

  get #hasServices(): boolean {
    return this.#plan.tasks.some(({ rule }) => rule?.service);
  }

  /** @param notices warnings for people @throws UserError before any script has started */
  async run(notices: readonly string[]): Promise<RunStatus> {
    const connections = await this.#connect();
    const reporting = await this.#chooseReporters();
    this.#reporters.reporters = reporting.reporters;
    this.#list = reporting.list;
    this.#watcher = this.#request.watcher ?? (this.#list && createListHooks());
    if (this.#list) trees.adoptOrphans();
    const executor = (this.#executor = this.#createExecutor(connections, reporting));
    this.#queue.onBroken = ({ code }) => this.#loseOutput(code === "EPIPE");
    await this.#announce(notices, connections.shared);
    const schedule = (this.#schedule = this.#startSchedule(executor, connections));
    if (this.#interruptedBy || this.#thrown) schedule.halt();
    const failure = this.#watcher
      ? await this.#watch(this.#watcher, executor, schedule)
      : await schedule.finished.catch(this.#fail);
    await executor.finish();
    await this.#disconnect(connections);
    this.#isOver = true;
    await this.#finishReporters();
    // A signal may have ended background processes of scripts while the reporters finished.
    if (this.#interruptedBy) await executor.finish();
    executor.close();
    if (this.#interruptedBy) return { signal: this.#interruptedBy };
    if (this.#thrown) throw this.#thrown.error;
    if (failure) return statusOf(failure.outcome);
    return this.#isComplete ? 0 : 1;
  }

  /** @throws UserError */
  async #connect(): Promise<Connections> {
    const [plan, request] = [this.#plan, this.#request];
    const cache = await request.cache?.connect(plan.tasks, this.#warn);
    const shared =
      request.share &&
      (await (await import("../../tasks/leases/shared-run.ts")).openSharedRun(plan, request, this.#warn));
    const remoteTasks = selectRemoteTasks(plan, request);
    const remote = remoteTasks.size > 0 ? await request.remote?.open([...remoteTasks], plan) : undefined;
    return { cache, shared, remote, remoteTasks };
  }

  /** Waits until uploads and downloads have ended. */
  async #disconnect({ cache, shared, remote }: Connections): Promise<void> {
    await remote?.finish().catch(this.#fail);
    const counts = await shared?.close?.();
    if (counts !== undefined) this.#remark(counts);
    this.#request.cache?.close();
    await cache?.finish();
  }

  async #chooseReporters(begun?: readonly ScriptTask[]): Promise<Reporting> {
    const [plan, request, queue] = [this.#plan, this.#request, this.#queue];
    return request.standsAlone
      ? chooseSingleReporter(request, queue)
      : await chooseReporters(plan, request, queue, this.#fail, begun);
  }

  #createExecutor({ cache, shared, remote }: Connections, { output, extraEnvironment }: Reporting): Executor {
    // Daemons of services are found, whatever their parents are.
    if (this.#hasServices) trees.adoptOrphans();
    return new Executor({
      request: this.#request,
      remote,
      output,
      terminalSize: () => this.#list?.size(),
      inheritStdin: this.#plan.tasks.length === 1,
      extraEnvironment,
      emit: this.#reporters.emit,
      watcher: this.#watcher,
      hasServices: this.#hasServices,
      keepsServices: this.#request.watcher !== undefined,
      yieldTerminal: async () => await this.#queue.flush(),
      leases: shared?.leases,
      onInterrupt: (signal) => {
        if (this.#interruptedBy || this.#isOver) this.#queue.hurry();
        this.#interruptedBy ??= signal;
        cache?.abandon();
        remote?.abandon();
        this.#schedule?.halt();
        this.#rounds?.wake();
      },
      onSuspend: () => {
        void this.#reporters.emit({ type: "suspend" });
        void this.#queue.flush();
      },
    });
  }

  /** Prints what people should read before the first task starts. */
  async #announce(notices: readonly string[], shared: SharedRun | undefined): Promise<void> {
    const { shard } = this.#plan;
    for (const message of [...notices, ...(shared?.notices ?? [])]) this.#warn(message);
    if (shared?.line !== undefined) this.#remark(shared.line);
    if (shard && !this.#request.silent)
      this.#remark((await import("../../tasks/planning/shard.ts")).describeShard(shard));
  }

  #startSchedule(executor: Executor, { shared, remote, remoteTasks }: Connections): Schedule {
    const request = this.#request;
    const { tasks, waitsFor } = this.#plan;
    const { watcher, parallel, sequential } = request;
    // Remote tasks use no resources of this machine, so `--parallel` does not limit them.
    const remoteLimit = parallel ? Number.POSITIVE_INFINITY : (remote?.limit ?? 0);
    return new Schedule({
      tasks,
      waitsFor,
      // In a shared run the leases limit the number of running tasks.
      limit: shared?.leases ? Number.POSITIVE_INFINITY : chooseLimit(request, tasks),
      remoteTasks:
        remote && !sequential ? { limit: remoteLimit, has: (task) => remoteTasks.has(task) } : undefined,
      onFailure: this.#choosePolicy(),
      run: (task, control) => executor.run(task, control),
      // A lease is taken once.
      mayHit: (task) => !shared?.leases && (request.cache?.mayHit(task) ?? false),
      release: watcher ? undefined : (task) => executor.release(task),
      abort: (task, service) => executor.abort(task, service),
      mayEnd: (task) => executor.watched.isRunning(task),
      settle: (task, outcome) =>
        void this.#reporters.emit({ type: "task-end", task, outcome, at: executor.now(), duration: 0 }),
      stop: (failure) => {
        if (watcher) return;
        if (!sequential && countLongRunning(tasks) > 0) this.#explainStop(failure);
        executor.stop("SIGTERM");
      },
    });
  }

  #choosePolicy(): FailurePolicy {
    const { parallel, sequential, noExitOnError } = this.#request;
    if (noExitOnError || (this.#watcher && parallel)) return "continue";
    if (parallel || sequential) return "stop";
    // A list and a watched run restart the task.
    return !this.#watcher && countLongRunning(this.#plan.tasks) > 0 ? "stop" : "skip";
  }

  /** Servers that rt stops often end with exit code 0, so the line says why they end. */
  #explainStop({ task, outcome }: TaskFailure): void {
    const failure = `${labelOf(task)}: ${describeOutcome(outcome)}`;
    this.#remark(`${failure}; stopping the other scripts, which --no-exit-on-error keeps`);
  }

  async #watch(
    watcher: WatchHooks,
    executor: Executor,
    schedule: Schedule,
  ): Promise<TaskFailure | null | void> {
    const rounds = (this.#rounds = new WatchRounds({
      watcher,
      executor,
      schedule,
      queue: this.#queue,
      emit: this.#reporters.emit,
      stop: (signal) => this.#stop(signal),
      fail: this.#fail,
      isOver: () => this.#interruptedBy !== undefined || this.#thrown !== undefined || this.#isOutputLost,
      finishRound: async (failure) => {
        await this.#finishReporters();
        // Services print while no other task runs.
        if (this.#hasServices && this.#request.watcher)
          this.#reporters.reporters = [createBackgroundReporter(this.#plan, this.#request, this.#queue)];
        if (failure) return statusOf(failure.outcome);
        return this.#isComplete && !this.#plan.isIncomplete ? 0 : 1;
      },
      openRound: async () => {
        await this.#reporters.finish();
        const { reporters, list } = await this.#chooseReporters([]);
        this.#reporters.reporters = reporters;
        this.#isComplete = true;
        this.#list = list;
        list?.begin(control);
      },
    }));
    const control = {
      restart: (task: ScriptTask) => void rounds.again([task]),
      stop: (task: ScriptTask) => executor.watched.end([task], watcher.killSignal),
    };
    this.#list?.begin(control);
    return await rounds.run();
  }

  /** Ends all running tasks, and starts no others. */
  #stop(signal: StopSignal = "SIGTERM"): void {
    this.#schedule?.halt();
    this.#executor?.stop(signal);
    this.#rounds?.wake();
  }

  /** An internal error ends the run. */
  readonly #fail = (error: unknown): void => {
    this.#thrown ??= { error };
    this.#stop();
  };

  /** Output cannot be written. @param isDisconnected whether the reader has closed the pipe */
  #loseOutput(isDisconnected: boolean): void {
    this.#isComplete = false;
    this.#isOutputLost = true;
    if (isDisconnected) this.#interruptedBy ??= "SIGPIPE";
    this.#stop();
  }

  async #finishReporters(): Promise<void> {
    if (!(await this.#reporters.finish())) this.#isComplete = false;
    await this.#queue.flush();
  }

  readonly #warn = (message: string): void => void this.#reporters.emit({ type: "notice", message });

  #remark(line: string): void {
    if (!this.#request.silent) void this.#reporters.emit({ type: "remark", line });
  }
}

function selectRemoteTasks({ tasks }: TaskPlan, { remote }: TaskRequest): ReadonlySet<ScriptTask> {
  if (!remote) return new Set();
  return new Set(tasks.filter((task) => choosePlacement(remote.eligibilityOf(task)).place === "remote"));
}

function statusOf(outcome: TaskOutcome): RunStatus {
  if (outcome.kind === "signal") return { signal: outcome.signal };
  return outcome.kind === "failure" || outcome.kind === "unstartable" ? outcome.code : 1;
}
