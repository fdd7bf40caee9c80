// Runs the tasks of a dependency graph in topological order, within a concurrency limit.
//
// Invariants:
// - Ready tasks start in plan order. Local and remote tasks have separate concurrency limits.
// - Two tasks with the same lock never run at the same time.
// - After a failure all tasks stop ("stop"), dependents are skipped ("skip"), or the others continue ("continue").
// - The result is the first failure, which determines the exit code.
// - A service that is ready does not count against the limit. It is released when all tasks that wait for it, also
//   through others, have ended. A requested service runs until the run is ended.
// - A task that the cache may have starts before its services do. They start when it turns out to need them.
// - While an interactive task runs, no other task starts.
// - A watched run has several rounds: `again` restarts tasks while others run, or when the schedule is idle.
//
// Non-obvious: on EAGAIN or EMFILE (`ResourceExhausted`) the task is queued again, and the limit shrinks to the
// number of running tasks.
import type { ServiceControl } from "../services/service.ts";
import { ServiceDemand } from "../services/service-demand.ts";
import type { ScriptTask, TaskOutcome } from "../task.ts";
import { type RemoteTasks, TaskStates } from "./task-states.ts";

export type FailurePolicy = "stop" | "skip" | "continue";

/** Connects a task with the schedule. */
export interface RunControl extends ServiceControl {
  /** Whether all services that it depends on are ready. Otherwise it may only be a cache hit. */
  readonly hasServices: boolean;
}

export interface ScheduleOptions {
  readonly tasks: readonly ScriptTask[];
  /** By task index. */
  readonly waitsFor: readonly (readonly number[])[];
  readonly limit: number;
  readonly remoteTasks?: RemoteTasks | undefined;
  readonly onFailure: FailurePolicy;
  /**
   * Runs a task to its end. Rejects with ResourceExhausted if nothing was started for lack of resources. Resolves with
   * "needs services" if nothing was started because its services do not run.
   */
  run(task: ScriptTask, control: RunControl): Promise<TaskOutcome | "needs services">;
  /** Whether the cache may have the task's result, so that it does not need its services. Absent: never. */
  mayHit?: (task: ScriptTask) => boolean;
  /** Ends a service that is not needed any more; `run` resolves then. Absent if services continue (watch mode). */
  release?: ((service: ScriptTask) => void) | undefined;
  /** Ends a running task whose service has ended; `run` resolves then. */
  abort?(task: ScriptTask, service: ScriptTask): void;
  /** Receives the outcome of a task that never ran. */
  settle(task: ScriptTask, outcome: TaskOutcome): void;
  /** Whether a running task can be ended for a restart: it has started. Used by `reach` only. */
  mayEnd?(task: ScriptTask): boolean;
  /** Ends all running tasks after the first failure. Called at most once in a round. */
  stop(failure: TaskFailure): void;
}

/**
 * The system or a remote server cannot start another process now. A caller that has nothing running throws `cause`
 * instead.
 */
export class ResourceExhausted extends Error {
  /** The system's error code. */
  readonly code: string;

  constructor(message: string, code: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export interface TaskFailure {
  readonly task: ScriptTask;
  readonly outcome: TaskOutcome;
}

export class Schedule {
  readonly #options: ScheduleOptions;
  readonly #dependents: number[][];
  readonly #states: TaskStates;
  /** Set for ended tasks. */
  readonly #outcomes: (TaskOutcome | undefined)[];
  readonly #demand: ServiceDemand;
  /** The number of first targets that a task does not wait for any more. Counted anew when targets restart. */
  readonly #passed: number[];
  #isHalted = false;
  /** A failure stopped the round. */
  #isStopped = false;
  #isIdle = false;
  #first: TaskFailure | null = null;
  #end = Promise.withResolvers<TaskFailure | null>();

  /** Starts the first tasks. */
  constructor(options: ScheduleOptions) {
    const { tasks, waitsFor, limit, remoteTasks, mayHit = () => false } = options;
    this.#options = options;
    this.#dependents = tasks.map(() => []);
    for (const [index, targets] of waitsFor.entries())
      for (const target of targets) this.#dependents[target]?.push(index);
    this.#states = new TaskStates(tasks, limit, remoteTasks);
    this.#outcomes = tasks.map(() => undefined);
    this.#passed = tasks.map(() => 0);
    this.#demand = new ServiceDemand({ tasks, waitsFor, dependents: this.#dependents, mayHit });
    this.#queueAll();
    this.#fill();
  }

  /** The first failure, or null. A call of `again` on an idle schedule replaces the promise. */
  get finished(): Promise<TaskFailure | null> {
    return this.#end.promise;
  }

  /** No task runs or will start, except services. */
  get isIdle(): boolean {
    return this.#isIdle;
  }

  /** Starts no further task. The caller ends the running ones. */
  halt(): void {
    this.#isHalted = true;
    this.#releaseServices();
  }

  /** Starts what can start, and finds out whether the round is over. */
  #fill(): void {
    const { tasks, release, run } = this.#options;
    while (!this.#isHalted && !this.#isStopped) {
      const index = this.#states.findNext();
      if (index === undefined) break;
      this.#states.enter(index, "running");
      const task = tasks[index]!;
      run(task, this.#controlOf(index)).then(
        (outcome) => this.#complete(task, outcome),
        (error: unknown) => this.#refuse(task, error),
      );
    }
    this.#releaseServices();
    // In watch mode, ready services continue.
    for (const index of this.#states.active) if (release || this.#states.of(index) !== "ready") return;
    // No task runs or can start: the remaining tasks were stopped.
    for (const task of tasks)
      if (!this.#outcomes[task.index] && !this.#states.active.has(task.index))
        this.#conclude(task, { kind: "stopped", wasRunning: false });
    this.#isIdle = true;
    this.#end.resolve(this.#first);
  }

  /** Queues a waiting task if it waits for nothing else. */
  #queueIfFree(index: number): void {
    if (this.#states.of(index) !== "waiting") return;
    if (this.#demand.isService(index) && !this.#demand.isWanted(index)) return;
    const targets = this.#options.waitsFor[index] ?? [];
    let at = this.#passed[index]!;
    while (at < targets.length && this.#isPassed(index, targets[at]!)) at++;
    this.#passed[index] = at;
    if (at === targets.length) this.#states.enter(index, "queued");
  }

  /** Whether the task does not wait for this target any more. */
  #isPassed(index: number, target: number): boolean {
    return this.#isDone(target) || (this.#demand.isHopeful(index) && this.#demand.isService(target));
  }

  #isDone(target: number): boolean {
    return this.#states.of(target) === "ended" || this.#states.of(target) === "ready";
  }

  /** In descending order, because that is the order of the queues. */
  #queueAll(): void {
    for (let index = this.#options.tasks.length - 1; index >= 0; index--) this.#queueIfFree(index);
  }

  /** In descending order as well. */
  #queueDependents(target: number): void {
    const dependents = this.#dependents[target]!;
    for (let at = dependents.length - 1; at >= 0; at--) this.#queueIfFree(dependents[at]!);
  }

  #controlOf(index: number): RunControl {
    const dependents = this.#demand.isService(index) ? this.#demand.dependentsOf(index) : [];
    return {
      hasServices: this.#demand.servicesOf(index).every((service) => this.#isDone(service)),
      hasDependents: dependents.length > 0,
      isNeeded: () => dependents.some((dependent) => !this.#outcomes[dependent]),
      onReady: () => {
        if (this.#states.of(index) !== "running") return;
        this.#states.enter(index, "ready");
        this.#queueDependents(index);
        this.#fill();
      },
    };
  }

  /** Ends services that no task needs any more, and settles those that no task has needed. */
  #releaseServices(): void {
    const { release, tasks } = this.#options;
    const isOver = this.#isHalted || this.#isStopped;
    for (const index of this.#demand.services) {
      const state = this.#states.of(index);
      const isUnneeded = state === "waiting" && !isOver && !this.#demand.isWanted(index);
      if (!isUnneeded && !(state === "ready" && release)) continue;
      if (this.#isNeeded(index)) continue;
      if (isUnneeded) {
        this.#conclude(tasks[index]!, { kind: "success", isUnneeded });
        // It may have been the last dependent of another service.
        return this.#releaseServices();
      }
      this.#states.enter(index, "released");
      release!(tasks[index]!);
    }
  }

  /** Whether a task that depends on the service has not ended, or will start. */
  #isNeeded(service: number): boolean {
    const isOver = this.#isHalted || this.#isStopped;
    if (!isOver && !this.#options.tasks[service]!.isDependency) return true;
    return this.#demand
      .dependentsOf(service)
      .some((index) => (isOver ? this.#states.active.has(index) : !this.#outcomes[index]));
  }

  #complete(task: ScriptTask, outcome: TaskOutcome | "needs services"): void {
    const { onFailure, stop } = this.#options;
    const { index } = task;
    const before = this.#states.of(index);
    if (outcome === "needs services") {
      this.#demand.wantServicesOf(index);
      this.#passed[index] = 0;
    }
    // A dependent of a released service may have been restarted.
    const isAgain = before === "restarting" || (before === "released" && this.#isNeeded(index));
    if ((isAgain && !this.#isHalted) || outcome === "needs services") {
      this.#states.enter(index, "waiting");
      if (onFailure === "skip") this.#skipWithoutService(index);
      this.#queueIfFree(index);
      // Services that the task needs start now.
      for (const service of this.#demand.services) this.#queueIfFree(service);
      return this.#fill();
    }
    this.#states.enter(index, "ended");
    this.#outcomes[index] = outcome;
    const isOver = this.#isHalted || this.#isStopped;
    const isFailure = outcome.kind !== "success" && !(outcome.kind === "stopped" && isOver);
    if (isFailure) this.#first ??= { task, outcome };
    if (isFailure && onFailure === "stop" && !isOver) {
      this.#isStopped = true;
      stop({ task, outcome });
    }
    if (isFailure && before === "ready") this.#abortDependents(task);
    if (isFailure && onFailure === "skip") this.#skip(this.#dependents[index]!, task);
    else this.#queueDependents(index);
    this.#fill();
  }

  #abortDependents(service: ScriptTask): void {
    const { abort, tasks } = this.#options;
    for (const index of this.#dependents[service.index]!)
      if (this.#isRunning(index)) abort?.(tasks[index]!, service);
  }

  /** Skips tasks that have not started, and their dependents. */
  #skip(indices: readonly number[], because: ScriptTask): void {
    const affected = new Set(indices);
    // A Set may grow while it is iterated.
    for (const index of affected) {
      if (this.#outcomes[index] || this.#states.active.has(index)) continue;
      this.#conclude(this.#options.tasks[index]!, { kind: "skipped", because });
      for (const further of this.#dependents[index]!) affected.add(further);
    }
  }

  /** A service may have failed while the task was looked up. */
  #skipWithoutService(index: number): void {
    const service = this.#demand.servicesOf(index).find((target) => isUnsuccessful(this.#outcomes[target]));
    if (service === undefined) return;
    const outcome = this.#outcomes[service]!;
    this.#skip([index], outcome.kind === "skipped" ? outcome.because : this.#options.tasks[service]!);
  }

  #conclude(task: ScriptTask, outcome: TaskOutcome): void {
    this.#states.enter(task.index, "ended");
    this.#outcomes[task.index] = outcome;
    this.#options.settle(task, outcome);
  }

  #refuse(task: ScriptTask, error: unknown): void {
    this.#states.enter(task.index, "waiting");
    if (!(error instanceof ResourceExhausted)) return this.#end.reject(error);
    if (!this.#states.lowerLimit(task.index)) return this.#end.reject(error.cause ?? error);
    this.#queueIfFree(task.index);
    this.#fill();
  }

  /** Whether it runs, and is not being ended for a restart. */
  #isRunning(index: number): boolean {
    return this.#states.active.has(index) && this.#states.of(index) !== "restarting";
  }

  /**
   * Returns in plan order: these tasks, their dependents, failures that block them, ended services that they need, and
   * tasks that a failure stopped. Tasks that are going to start anyway are excluded.
   */
  reach(wanted: readonly ScriptTask[]): ScriptTask[] {
    const { tasks, waitsFor, mayEnd } = this.#options;
    const reached = new Set(wanted.map(({ index }) => index));
    for (const { index } of tasks) if (isHeldBack(this.#outcomes[index])) reached.add(index);
    // A Set may grow while it is iterated.
    for (const index of reached) {
      for (const dependent of this.#dependents[index]!) reached.add(dependent);
      for (const target of waitsFor[index] ?? [])
        if (isUnsuccessful(this.#outcomes[target])) reached.add(target);
    }
    // Their other dependents do not restart.
    for (const index of reached)
      for (const service of this.#demand.servicesOf(index)) if (this.#outcomes[service]) reached.add(service);
    const isEndable = (task: ScriptTask) => this.#isRunning(task.index) && (mayEnd?.(task) ?? true);
    return tasks.filter((task) => reached.has(task.index) && (this.#outcomes[task.index] || isEndable(task)));
  }

  /**
   * Restarts these tasks in order. The caller has already ended those that run. @param tasks the result of `reach`
   */
  again(tasks: readonly ScriptTask[]): void {
    if (this.#isHalted) return;
    this.#isStopped = false;
    for (const { index } of tasks) {
      this.#outcomes[index] = undefined;
      this.#states.enter(index, this.#states.active.has(index) ? "restarting" : "waiting");
      if (this.#first?.task.index === index) this.#first = null;
    }
    this.#demand.renew(tasks.map(({ index }) => index));
    this.#passed.fill(0);
    // A queued task may have to wait for a restarted one.
    for (const { index } of this.#options.tasks)
      if (this.#states.of(index) === "queued") this.#states.enter(index, "waiting");
    this.#queueAll();
    if (this.#isIdle) {
      this.#isIdle = false;
      this.#first = null;
      this.#states.resetLimit();
      this.#end = Promise.withResolvers();
    }
    this.#fill();
  }
}

function isUnsuccessful(outcome: TaskOutcome | undefined): boolean {
  return outcome !== undefined && outcome.kind !== "success";
}

/** Whether the task never ran, because another task failed. */
function isHeldBack(outcome: TaskOutcome | undefined): boolean {
  return outcome?.kind === "stopped" && !outcome.wasRunning;
}
