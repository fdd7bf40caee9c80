// Runs single tasks: replays a cache hit, runs the task on a remote worker, or runs its steps locally.
//
// Invariants:
// - A failing step ends the task.
// - A background process of a script survives a run that ends normally. A signal to rt ends it (shutdown.ts).
// - In watch mode, background processes end before their task restarts, and with the run.
// - A service is never cached, retried, remote or leased. Neither is an interactive task.
// Non-obvious: modules that start programs are imported on demand. A run of hits needs none of them.
import type {
  Child,
  ChildRequest,
  StopSignal,
  TerminalDimensions,
} from "../../../platform/processes/contract/process-tree.ts";
import { AbortedTasks } from "./aborted-tasks.ts";
import type { TaskEvent } from "../task-events.ts";
import { replay, replayFailure } from "./replay.ts";
import { type CacheLookup, CacheLookups } from "./cache-lookup.ts";
import { describeOutcome, labelOf } from "../labels.ts";
import type { Steps } from "./step-runner.ts";
import type { LeaseOutcome, LeaseScheduler } from "../leases/lease-scheduler.ts";
import type { Service } from "../services/service.ts";
import type { RunControl } from "./schedule.ts";
import { Shutdown } from "./shutdown.ts";
import type { CacheHit, CachedRun } from "../../cache/cached-script.ts";
import type { SpawnCommand, ScriptTask, TaskRequest, TaskOutcome, WatchHooks } from "../task.ts";
import { WatchedTrees } from "./watched-process-trees.ts";
import type { RemoteRun, Placement } from "./placement.ts";

export interface ExecutorOptions {
  readonly request: Pick<TaskRequest, "commandFor" | "cache" | "remote" | "secrets" | "output">;
  /** Set if tasks of this run may run on a remote server. */
  readonly remote?: RemoteRun | undefined;
  readonly output: ChildRequest["output"];
  /** The size of a pseudo-terminal. */
  terminalSize?(): TerminalDimensions | undefined;
  readonly inheritStdin: boolean;
  /** Added to the environment of every child. */
  readonly extraEnvironment: Readonly<Record<string, string>>;
  emit(event: TaskEvent): void | Promise<void>;
  readonly watcher?: WatchHooks | undefined;
  /** Whether the run has services: their orphans are identified. */
  readonly hasServices: boolean;
  /** Whether services run until the whole run ends (watch mode). */
  readonly keepsServices: boolean;
  /** Called before an interactive task gets the terminal. */
  yieldTerminal(): Promise<void>;
  /** Set in a shared run. */
  readonly leases?: LeaseScheduler | undefined;
  /** Called at a signal: nothing more may be started. */
  onInterrupt(signal: NodeJS.Signals): void;
  /** Called before all processes including rt are stopped (Ctrl-Z). */
  onSuspend(): void;
}

interface TaskEnding {
  readonly outcome: TaskOutcome;
  readonly where?: Placement | undefined;
}

export class Executor {
  readonly #options: ExecutorOptions;
  #started = performance.now();
  readonly #watched: WatchedTrees | undefined;
  readonly #shutdown: Shutdown;
  #openedSteps: Steps | undefined;
  readonly #services = new Map<ScriptTask, Service>();
  readonly #aborted = new AbortedTasks();
  readonly #lookups: CacheLookups;

  constructor(options: ExecutorOptions) {
    this.#options = options;
    this.#lookups = new CacheLookups(options);
    this.#watched = options.watcher && new WatchedTrees();
    this.#shutdown = new Shutdown({
      children: () => {
        const services = this.#readyServices();
        const running = [...(this.#openedSteps?.children ?? []), ...(this.#watched?.children ?? [])];
        return running.filter((child) => !services.includes(child));
      },
      services: () => this.#readyServices(),
      survivors: () => this.#openedSteps?.withSurvivors ?? [],
      isWatched: this.#watched !== undefined,
      isInherited: options.output === "inherit",
      onSignal(signal) {
        void options.emit({ type: "interrupt", signal });
        options.onInterrupt(signal);
      },
      onBegin() {
        options.remote?.stop();
        options.leases?.stop();
      },
      onSuspend: () => options.onSuspend(),
      onResume: () => void options.emit({ type: "resume" }),
    });
  }

  get #steps(): Steps {
    return (this.#openedSteps ??= this.#openSteps());
  }

  #openSteps(): Steps {
    const options = this.#options;
    const runners = require("./step-runner.ts") as typeof import("./step-runner.ts");
    return new runners.Steps({
      ...options,
      watched: this.#watched,
      isAdopting: this.#watched !== undefined || options.hasServices,
      now: () => this.now(),
      isEnding: (task) => this.#isEnding(task),
      isOver: () => this.#shutdown.hasBegun,
      yieldTerminal: async () => {
        this.#shutdown.beginInteraction();
        await options.yieldTerminal();
      },
    });
  }

  /** The children of services that end after the tasks that need them. */
  #readyServices(): Child[] {
    if (this.#options.keepsServices) return [];
    return [...this.#services.values()].flatMap(({ isReady, child }) => (isReady && child ? [child] : []));
  }

  /** Only in watch mode. */
  get watched(): WatchedTrees {
    return this.#watched!;
  }

  /**
   * Resets the clock at the start of a watch round, when nothing runs. Times of the round's reports count from
   * here.
   */
  beginRound(): void {
    this.#started = performance.now();
  }

  now(): number {
    return performance.now() - this.#started;
  }

  /**
   * Never rejects because the task fails. Resolves with "needs services" if nothing was started because it is not a hit.
   * @throws ResourceExhausted if the first step could not be started for lack of resources @throws UserError of a
   * remote server
   */
  async run(task: ScriptTask, control: RunControl): Promise<TaskOutcome | "needs services"> {
    const { emit, remote, request, watcher } = this.#options;
    // In watch mode, or with remote tasks or services, files change at any time.
    if (this.#watched || remote || this.#services.size > 0) request.cache?.beforeStart();
    if (this.#watched) await this.#beginWatched(task, this.#watched);
    const { service, interactive } = task.rule ?? {};
    const isLeased = !service && !interactive;
    const lease = isLeased
      ? await this.#options.leases?.take(task, () => this.#lookups.open(task))
      : undefined;
    const begin = this.now();
    const lookup = await this.#lookups.lookUp(task, lease, control);
    if (lookup === "needs services") {
      this.#watched?.finish(task);
      return lookup;
    }
    const { cached } = lookup;
    if (service) this.#services.set(task, this.#createService(task, control));
    const ended = await this.#carryOutWithRetries(task, lease, lookup);
    this.#services.delete(task);
    if (lease && !(await lease.finish(ended.outcome, this.now() - begin))) {
      const message = `Another machine has taken over ${labelOf(task)}, because this one did not renew its lease; its local result is discarded`;
      void emit({ type: "notice", message });
      void emit({ type: "again", tasks: [task] });
      return await this.run(task, control);
    }
    if (!this.#isEnding(task))
      await watcher?.onEnd(task, ended.outcome.kind === "success" ? cached : undefined);
    const ending = this.#watched?.endingOf(task);
    await ending;
    const outcome: TaskOutcome = ending
      ? { kind: "stopped", wasRunning: true }
      : await this.#aborted.settle(task, ended.outcome);
    const { where } = ended;
    if (where && where.place !== "remote") remote!.invalidateFiles();
    const at = this.now();
    const details = {
      ...(cached && { why: cached.why }),
      ...(where && { where }),
      ...(lease && { machine: lease.machine }),
    };
    await emit({ type: "task-end", task, outcome, at, duration: at - begin, ...details });
    // Last, because the task may still be ended for a restart until here.
    this.#watched?.finish(task);
    return outcome;
  }

  #createService(task: ScriptTask, control: RunControl): Service {
    const services = require("../services/service.ts") as typeof import("../services/service.ts");
    return new services.Service({
      ...control,
      task,
      emit: (event) => this.emit(event),
      now: () => this.now(),
      isEnding: () => this.#isEnding(task),
    });
  }

  /** Ends a service that no task needs any more. Returns at once. */
  release(task: ScriptTask): void {
    this.#services.get(task)?.stop(this.#shutdown.signal ?? "SIGTERM");
  }

  /** Ends a task whose service has ended. Returns at once; `run` resolves later. */
  abort(task: ScriptTask, service: ScriptTask): void {
    if (this.#isEnding(task)) return;
    this.#aborted.end(task, service, this.#openedSteps?.childrenOf(task) ?? []);
    this.#services.get(task)?.stop("SIGTERM");
  }

  /** Repeats a failed task as often as its `retries` allow. */
  async #carryOutWithRetries(
    task: ScriptTask,
    lease: LeaseOutcome | undefined,
    lookup: CacheLookup,
  ): Promise<TaskEnding> {
    const { retries = 0 } = task.rule ?? {};
    let ended = await this.#carryOut(task, lease, lookup, retries === 0);
    for (let retry = 1; retry <= retries && this.#mayRetry(task, ended, lease); retry += 1) {
      const message = `${labelOf(task)}: ${describeOutcome(ended.outcome)}; retry ${retry} of ${retries}`;
      await this.emit({ type: "notice", message });
      // A new recording, because the failed attempt may have changed files.
      const again = { ...lookup, cached: lookup.cached && (await this.#lookups.open(task)) };
      ended = await this.#carryOut(task, lease, again, retry === retries);
      if (ended.outcome.kind === "success")
        ended = { ...ended, outcome: { ...ended.outcome, retries: retry } };
    }
    return ended;
  }

  #mayRetry(task: ScriptTask, { outcome }: TaskEnding, lease: LeaseOutcome | undefined): boolean {
    const hasFailed = outcome.kind === "failure" || outcome.kind === "signal";
    return hasFailed && !lease?.failure && !this.#isEnding(task);
  }

  /**
   * Replays, runs remotely or runs locally: the first that applies.
   * @param isLast whether a failure is final
   */
  async #carryOut(
    task: ScriptTask,
    lease: LeaseOutcome | undefined,
    { cached, where }: CacheLookup,
    isLast: boolean,
  ): Promise<TaskEnding> {
    if (lease?.failure)
      return { outcome: await replayFailure(task, lease.failure, this.#redact, this), where };
    if (cached?.hit) return { outcome: await this.#replayHit(task, cached, cached.hit, lease), where };
    if (where?.place === "remote" && !this.#isEnding(task)) {
      const { runRemoteTask } = await import("./remote-task.ts");
      const { outcome, machine } = await runRemoteTask(task, this.#options.remote!, this.#redact, this);
      // The run was not traced locally, so it is not stored; the server caches it.
      await this.#lookups.close(cached, "stopped");
      return { outcome, where: { ...where, ...(machine !== undefined && { machine }) } };
    }
    if (lease?.isStopped) return { outcome: { kind: "stopped", wasRunning: false }, where };
    return { outcome: await this.#runHere(task, cached, lease, isLast), where };
  }

  async #replayHit(
    task: ScriptTask,
    cached: CachedRun,
    hit: CacheHit,
    lease: LeaseOutcome | undefined,
  ): Promise<TaskOutcome> {
    const machine = lease?.other !== undefined && { machine: lease.other };
    const isShown = hit.restored === 0 && this.#options.watcher?.isShown(task, cached.inputs);
    if (!isShown) await replay(task, { ...hit, ...machine }, this.#redact, this);
    return { kind: "success", saved: hit.saved, ...machine };
  }

  async #runHere(
    task: ScriptTask,
    cached: CachedRun | undefined,
    lease: LeaseOutcome | undefined,
    isLast: boolean,
  ): Promise<TaskOutcome> {
    this.#options.request.cache?.beforeStart();
    const outcome = await this.#steps
      .run(task, cached, this.#services.get(task))
      .catch(async (error: unknown) => {
        await lease?.finish({ kind: "stopped", wasRunning: false }, 0);
        throw error;
      });
    if (task.rule?.interactive) this.#shutdown.endInteraction(outcome);
    const isFinal = isLast || outcome.kind === "success" || this.#isEnding(task);
    await this.#lookups.close(cached, outcome.kind, isFinal ? lease?.end(outcome) : undefined);
    return cached?.isFaulty && outcome.kind === "success"
      ? { kind: "failure", code: 1, step: task.steps.at(-1)! }
      : outcome;
  }

  emit(event: TaskEvent): void | Promise<void> {
    return this.#options.emit(event);
  }

  get #redact(): SpawnCommand["redact"] {
    return this.#options.request.secrets?.redact;
  }

  async #beginWatched(task: ScriptTask, watched: WatchedTrees): Promise<void> {
    if (await watched.begin(task)) this.#steps.renew(task);
    if (!this.#shutdown.hasBegun) this.#options.watcher?.onStart(task);
  }

  #isEnding(task: ScriptTask): boolean {
    return this.#shutdown.hasBegun || this.#aborted.has(task) || this.#watched?.endingOf(task) !== undefined;
  }

  /** Ends all running tasks. Returns at once. */
  stop(signal: StopSignal): void {
    this.#shutdown.begin(signal);
  }

  /** Waits after the last task until all process trees that had to end have ended. */
  async finish(): Promise<void> {
    await this.#shutdown.finish();
  }

  /** Restores the default handling of signals. */
  close(): void {
    this.#shutdown.close();
  }
}
