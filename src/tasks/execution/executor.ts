// Carries out one task after the other: told again as it was before, on another machine, or here, step by step (before,
// the script, after), and answers for every process that this starts.
//
// Contract: a failing step ends the task. A background process that a script leaves behind in a run that ends by itself is
// the script's affair, and ends with the others where rt is asked to end. In a run that is watched it ends before its task
// starts again, and with the run. How a run is ended is shutdown.ts' matter.
import type { ChildRequest, StopSignal } from "../../../platform/processes/contract/process-tree.ts";
import { runRemoteTask } from "./remote-task.ts";
import type { TaskEvent } from "../task-events.ts";
import { replay, replayFailure } from "./replay.ts";
import { describeWhy, labelOf } from "../labels.ts";
import { Steps } from "./step-runner.ts";
import type { LeaseOutcome, LeaseScheduler } from "../leases/lease-scheduler.ts";
import { Shutdown } from "./shutdown.ts";
import type {
  CachedHit,
  CachedTask,
  SpawnCommand,
  ScriptTask,
  TaskRequest,
  TaskOutcome,
  WatchHooks,
} from "../task.ts";
import { WatchedTrees } from "./watched-process-trees.ts";
import { choosePlacement, type RemoteRun, type Placement } from "./placement.ts";

export interface ExecutorOptions {
  readonly request: Pick<
    TaskRequest,
    "commandFor" | "redaction" | "prepare" | "openCached" | "explainCached" | "beforeStart" | "offerFor"
  >;
  /** Where tasks may run on other machines. */
  readonly remote?: RemoteRun | undefined;
  readonly output: ChildRequest["output"];
  readonly inheritStdin: boolean;
  /** Added to every child's environment. */
  readonly extraEnvironment: Readonly<Record<string, string>>;
  emit(event: TaskEvent): void | Promise<void>;
  readonly watcher?: WatchHooks | undefined;
  /** That of a run which several machines share. */
  readonly turns?: LeaseScheduler | undefined;
  /** A signal came: nothing more is to be started. */
  onInterrupt(signal: NodeJS.Signals): void;
  /** Everything is about to stand still, rt included. */
  onSuspend(): void;
}

interface CacheLookup {
  readonly cached: CachedTask | undefined;
  /** Absent where no other machine is to be had. */
  readonly where?: Placement | undefined;
}

export class Executor {
  readonly #options: ExecutorOptions;
  #started = performance.now();
  readonly #watched: WatchedTrees | undefined;
  readonly #shutdown: Shutdown;
  readonly #steps: Steps;

  constructor(options: ExecutorOptions) {
    this.#options = options;
    this.#watched = options.watcher && new WatchedTrees();
    this.#steps = new Steps({
      ...options,
      watched: this.#watched,
      now: () => this.now(),
      isEnding: (task) => this.#isEnding(task),
      isOver: () => this.#shutdown.hasBegun,
    });
    this.#shutdown = new Shutdown({
      children: () => [...this.#steps.children, ...(this.#watched?.children ?? [])],
      left: () => this.#steps.left,
      isWatched: this.#watched !== undefined,
      isInherited: options.output === "inherit",
      onSignal(signal) {
        void options.emit({ type: "interrupt", signal });
        options.onInterrupt(signal);
      },
      onBegin() {
        options.remote?.stop();
        options.turns?.stop();
      },
      onSuspend: () => options.onSuspend(),
      onResume: () => void options.emit({ type: "resume" }),
    });
  }

  /** Of a watched run alone. */
  get watched(): WatchedTrees {
    return this.#watched!;
  }

  /** A round of a watched run begins, while nothing runs: its times, and so its reports', count from here. */
  beginRound(): void {
    this.#started = performance.now();
  }

  now(): number {
    return performance.now() - this.#started;
  }

  /**
   * Never rejects because of the task; rejects with Refused when its first step found no resources, and with the Failure of
   * a server that is to run it.
   */
  async run(task: ScriptTask): Promise<TaskOutcome> {
    const { emit, remote, request, watcher } = this.#options;
    // Files change at any time in a watched run, and where something comes from other machines.
    if (this.#watched || remote) request.beforeStart?.();
    if (this.#watched) await this.#beginWatched(task, this.#watched);
    const turn = await this.#options.turns?.take(task, () => this.#openCached(task));
    const begin = this.now();
    const known = await this.#look(task, turn);
    const { cached } = known;
    const ended = await this.#carryOut(task, turn, known);
    if (turn && !(await turn.finish(ended.outcome, this.now() - begin))) {
      const message = `Another machine has taken over ${labelOf(task)}, since nothing was heard of this one; what it made here does not count`;
      void emit({ type: "notice", message });
      void emit({ type: "again", tasks: [task] });
      return await this.run(task);
    }
    if (!this.#isEnding(task))
      await watcher?.onEnd(task, ended.outcome.kind === "success" ? cached : undefined);
    const ending = this.#watched?.endingOf(task);
    await ending;
    const outcome: TaskOutcome = ending ? { kind: "stopped", wasRunning: true } : ended.outcome;
    const { where } = ended;
    if (where && where.place !== "remote") remote!.invalidateFiles();
    const at = this.now();
    const more = {
      ...(cached && { why: cached.why }),
      ...(where && { where }),
      ...(turn && { machine: turn.machine }),
    };
    await emit({ type: "task-end", task, outcome, at, duration: at - begin, ...more });
    // Not before: up to here it may still be asked to end.
    this.#watched?.finish(task);
    return outcome;
  }

  /** What is known of it before it starts, and where that has it carried out. */
  async #look(task: ScriptTask, turn: LeaseOutcome | undefined): Promise<CacheLookup> {
    const { emit, remote, request } = this.#options;
    const offer = remote && request.offerFor!(task);
    if (offer && (offer.isCached || choosePlacement(offer).place === "here"))
      await remote.downloadOutputs(task);
    const cached = turn ? turn.cached : await this.#openCached(task);
    const isHit = cached?.hit !== undefined;
    if (cached && request.explainCached)
      void emit({ type: "remark", line: describeWhy(task, isHit, cached.why) });
    return { cached, where: offer && choosePlacement(offer, cached && { isHit, why: cached.why }) };
  }

  /** Told again, on another machine, or here: the first that applies. */
  async #carryOut(
    task: ScriptTask,
    turn: LeaseOutcome | undefined,
    { cached, where }: CacheLookup,
  ): Promise<{ readonly outcome: TaskOutcome; readonly where?: Placement | undefined }> {
    if (turn?.failure) return { outcome: await replayFailure(task, turn.failure, this.#redact, this), where };
    if (cached?.hit) return { outcome: await this.#replayHit(task, cached, cached.hit, turn), where };
    if (where?.place === "remote" && !this.#isEnding(task)) {
      const { outcome, machine } = await runRemoteTask(task, this.#options.remote!, this.#redact, this);
      // The server knows what it did; nobody has followed it.
      await this.#close(cached, "stopped");
      return { outcome, where: { ...where, ...(machine !== undefined && { machine }) } };
    }
    if (turn?.isStopped) return { outcome: { kind: "stopped", wasRunning: false }, where };
    return { outcome: await this.#runHere(task, cached, turn), where };
  }

  async #replayHit(
    task: ScriptTask,
    cached: CachedTask,
    hit: CachedHit,
    turn: LeaseOutcome | undefined,
  ): Promise<TaskOutcome> {
    const machine = turn?.other !== undefined && { machine: turn.other };
    const isShown = hit.restored === 0 && this.#options.watcher?.isShown(task, cached.inputs);
    if (!isShown) await replay(task, { ...hit, ...machine }, this.#redact, this);
    return { kind: "success", saved: hit.saved, ...machine };
  }

  async #runHere(
    task: ScriptTask,
    cached: CachedTask | undefined,
    turn: LeaseOutcome | undefined,
  ): Promise<TaskOutcome> {
    this.#options.request.beforeStart?.();
    const outcome = await this.#steps.run(task, cached).catch(async (error: unknown) => {
      await turn?.finish({ kind: "stopped", wasRunning: false }, 0);
      throw error;
    });
    await this.#close(cached, outcome.kind, turn?.end(outcome));
    return cached?.isFaulty && outcome.kind === "success"
      ? { kind: "failure", code: 1, step: task.steps.at(-1)! }
      : outcome;
  }

  async #close(cached: CachedTask | undefined, ...how: Parameters<CachedTask["close"]>): Promise<void> {
    for (const message of (await cached?.close(...how)) ?? []) void this.emit({ type: "notice", message });
  }

  emit(event: TaskEvent): void | Promise<void> {
    return this.#options.emit(event);
  }

  get #redact(): SpawnCommand["redact"] {
    return this.#options.request.redaction?.();
  }

  async #openCached(task: ScriptTask): Promise<CachedTask | undefined> {
    const { request, extraEnvironment, emit } = this.#options;
    const opened = await request.openCached?.(task, extraEnvironment);
    if (!opened || !("notice" in opened)) return opened;
    void emit({ type: "notice", message: opened.notice });
    return undefined;
  }

  async #beginWatched(task: ScriptTask, watched: WatchedTrees): Promise<void> {
    if (await watched.begin(task)) this.#steps.renew(task);
    if (!this.#shutdown.hasBegun) this.#options.watcher?.onStart(task);
  }

  #isEnding(task: ScriptTask): boolean {
    return this.#shutdown.hasBegun || this.#watched?.endingOf(task) !== undefined;
  }

  /** Ends everything that runs; returns at once. */
  stop(signal: StopSignal): void {
    this.#shutdown.begin(signal);
  }

  /** After the last task: waits until nothing is left of what had to be stopped. */
  async finish(): Promise<void> {
    await this.#shutdown.finish();
  }

  /** From now on a signal is the system's affair again. */
  close(): void {
    this.#shutdown.close();
  }
}
