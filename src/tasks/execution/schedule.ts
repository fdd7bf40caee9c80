// Runs the tasks of a dependency graph in topological order, within a concurrency limit.
//
// Invariants:
// - Ready tasks start in plan order. Local and remote tasks have separate concurrency limits.
// - Two tasks with the same lock never run at the same time.
// - After a failure all tasks stop ("stop"), dependents are skipped ("skip"), or the others continue ("continue").
// - The result is the first failure, which determines the exit code.
// - A watched run has several rounds: `again` restarts tasks while others run, or when the schedule is idle.
//
// Non-obvious: on EAGAIN or EMFILE (`ResourceExhausted`) the task is queued again, and the limit shrinks to the
// number of running tasks.
import type { ScriptTask, TaskOutcome } from "../task.ts";

export type FailurePolicy = "stop" | "skip" | "continue";

export interface ScheduleOptions {
  readonly tasks: readonly ScriptTask[];
  /** By task index. */
  readonly waitsFor: readonly (readonly number[])[];
  readonly limit: number;
  /** Remote tasks and their concurrency limit. */
  readonly remoteTasks?: { readonly limit: number; has(task: ScriptTask): boolean } | undefined;
  readonly onFailure: FailurePolicy;
  /** Runs a task to its end. Rejects with ResourceExhausted if nothing was started for lack of resources. */
  run(task: ScriptTask): Promise<TaskOutcome>;
  /** Receives the outcome of a task that never ran. */
  settle(task: ScriptTask, outcome: TaskOutcome): void;
  /** Whether a running task can be ended for a restart: it has started. Used by `reach` only. */
  mayEnd?(task: ScriptTask): boolean;
  /** Ends all running tasks. Called at most once in a round. */
  stop(): void;
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

export interface Schedule {
  /** The first failure, or null. A call of `again` on an idle schedule replaces the promise. */
  readonly finished: Promise<TaskFailure | null>;
  /** No task runs or will start. */
  readonly isIdle: boolean;
  /** Starts no further task. The caller ends the running ones. */
  halt(): void;
  /**
   * Returns these tasks, their dependents, failures that block them, and tasks that a failure stopped, in plan
   * order. Tasks that are going to start anyway are excluded.
   */
  reach(tasks: readonly ScriptTask[]): ScriptTask[];
  /**
   * Restarts these tasks in order. The caller has already ended those that run. @param tasks the result of `reach`
   */
  again(tasks: readonly ScriptTask[]): void;
}

export function startSchedule({
  tasks,
  waitsFor,
  onFailure,
  run,
  settle,
  stop,
  mayEnd,
  remoteTasks,
  ...options
}: ScheduleOptions): Schedule {
  const waiting = tasks.map((_, index) => waitsFor[index]?.length ?? 0);
  const dependents: number[][] = tasks.map(() => []);
  for (const [index, targets] of waitsFor.entries())
    for (const target of targets) dependents[target]?.push(index);
  const local: ConcurrencySlot = { limit: options.limit, ready: [], running: 0 };
  const remote: ConcurrencySlot = { limit: remoteTasks?.limit ?? 0, ready: [], running: 0 };
  const slotOf = (index: number) => (remoteTasks?.has(tasks[index]!) ? remote : local);
  const outcomes: (TaskOutcome | undefined)[] = tasks.map(() => undefined);
  const running = new Set<number>();
  /** Locks of running tasks. */
  const locked = new Set<string>();
  /** Running tasks that are being ended for a restart. */
  const ending = new Set<number>();
  let isHalted = false;
  /** A failure stopped the round. */
  let isStopped = false;
  let first: TaskFailure | null = null;
  let isIdle = false;
  let { promise: finished, resolve, reject } = Promise.withResolvers<TaskFailure | null>();

  function fill(): void {
    while (!isHalted && !isStopped) {
      const index = takeReady();
      if (index === undefined) break;
      const task = tasks[index]!;
      running.add(index);
      slotOf(index).running++;
      if (lockOf(index) !== undefined) locked.add(lockOf(index)!);
      run(task).then(
        (outcome) => complete(task, outcome),
        (error: unknown) => refuse(task, error),
      );
    }
    if (running.size > 0) return;
    // No task runs or can start: the remaining tasks were stopped.
    for (const task of tasks)
      if (!outcomes[task.index]) conclude(task, { kind: "stopped", wasRunning: false });
    isIdle = true;
    resolve(first);
  }

  /** The first ready task in plan order whose slot and lock are free. */
  function takeReady(): number | undefined {
    let first: { readonly slot: ConcurrencySlot; readonly at: number } | undefined;
    for (const slot of [local, remote]) {
      if (slot.running >= slot.limit) continue;
      const at = slot.ready.findLastIndex((index) => locked.size === 0 || !locked.has(lockOf(index) ?? ""));
      if (at >= 0 && (!first || slot.ready[at]! < first.slot.ready[first.at]!)) first = { slot, at };
    }
    return first?.slot.ready.splice(first.at, 1)[0];
  }

  function lockOf(index: number): string | undefined {
    return tasks[index]!.rule?.lock;
  }

  function leave(index: number): void {
    running.delete(index);
    locked.delete(lockOf(index) ?? "");
    slotOf(index).running--;
  }

  function complete(task: ScriptTask, outcome: TaskOutcome): void {
    leave(task.index);
    if (ending.delete(task.index) && !isHalted) {
      if (waiting[task.index] === 0) insertReady(task.index);
      return fill();
    }
    outcomes[task.index] = outcome;
    const isFailure = outcome.kind !== "success" && !(outcome.kind === "stopped" && (isHalted || isStopped));
    if (isFailure) first ??= { task, outcome };
    if (isFailure && onFailure === "stop" && !isHalted && !isStopped) {
      isStopped = true;
      stop();
    }
    if (isFailure && onFailure === "skip") skipDependents(task);
    else
      for (const index of dependents[task.index] ?? [])
        if (--waiting[index]! === 0 && !outcomes[index] && !running.has(index)) insertReady(index);
    fill();
  }

  function skipDependents(cause: ScriptTask): void {
    const queue = [...(dependents[cause.index] ?? [])];
    for (let index = queue.shift(); index !== undefined; index = queue.shift()) {
      if (outcomes[index]) continue;
      conclude(tasks[index]!, { kind: "skipped", because: cause });
      queue.push(...(dependents[index] ?? []));
    }
  }

  function conclude(task: ScriptTask, outcome: TaskOutcome): void {
    outcomes[task.index] = outcome;
    settle(task, outcome);
  }

  function refuse(task: ScriptTask, error: unknown): void {
    leave(task.index);
    const slot = slotOf(task.index);
    if (!(error instanceof ResourceExhausted)) return reject(error);
    if (slot.running === 0) return reject(error.cause ?? error);
    slot.limit = slot.running;
    insertReady(task.index);
    fill();
  }

  function insertReady(index: number): void {
    const { ready } = slotOf(index);
    let at = ready.length;
    while (at > 0 && ready[at - 1]! < index) at--;
    ready.splice(at, 0, index);
  }

  function reach(wanted: readonly ScriptTask[]): ScriptTask[] {
    const reached = new Set(wanted.map(({ index }) => index));
    for (const { index } of tasks) if (isHeldBack(outcomes[index])) reached.add(index);
    // A Set may grow while it is iterated.
    for (const index of reached) {
      for (const dependent of dependents[index] ?? []) reached.add(dependent);
      for (const target of waitsFor[index] ?? [])
        if (outcomes[target] && outcomes[target].kind !== "success") reached.add(target);
    }
    return tasks.filter((task) => reached.has(task.index) && (outcomes[task.index] || isEndable(task)));
  }

  function isEndable(task: ScriptTask): boolean {
    return running.has(task.index) && !ending.has(task.index) && (mayEnd?.(task) ?? true);
  }

  function again(wanted: readonly ScriptTask[]): void {
    if (isHalted) return;
    isStopped = false;
    for (const { index } of wanted) {
      outcomes[index] = undefined;
      if (running.has(index)) ending.add(index);
      if (first?.task.index === index) first = null;
    }
    for (const { index } of tasks)
      waiting[index] = (waitsFor[index] ?? []).filter((target) => !outcomes[target]).length;
    for (const slot of [local, remote]) slot.ready.length = 0;
    for (const { index } of tasks)
      if (!outcomes[index] && !running.has(index) && waiting[index] === 0) insertReady(index);
    if (isIdle) {
      isIdle = false;
      first = null;
      local.limit = options.limit;
      ({ promise: finished, resolve, reject } = Promise.withResolvers<TaskFailure | null>());
    }
    fill();
  }

  for (let index = tasks.length - 1; index >= 0; index--)
    if (waiting[index] === 0) slotOf(index).ready.push(index); // the next one last, because `pop` takes from the end
  fill();
  return {
    get finished() {
      return finished;
    },
    get isIdle() {
      return isIdle;
    },
    halt() {
      isHalted = true;
    },
    reach,
    again,
  };
}

interface ConcurrencySlot {
  limit: number;
  /** Task indices, descending. */
  readonly ready: number[];
  running: number;
}

/** Whether the task never ran, because another task failed. */
function isHeldBack(outcome: TaskOutcome | undefined): boolean {
  return outcome?.kind === "stopped" && !outcome.wasRunning;
}
