// Starts tasks as soon as what they wait for has succeeded and a place is free.
//
// Contract: tasks start in plan order; never more than `limit` at once. After a failure either everything
// stops ("stop"), what depends on it is skipped ("skip"), or nothing changes ("continue"). The result names
// the failure that came first: its code is the run's. A run that is watched has many rounds: tasks may be asked for again
// while others run, or when nothing does, and a task that runs is started again when the caller has ended it.
//
// Surprising: the system may refuse one more process (`Refused`): the task then goes back to the front, and
// the limit shrinks to what did run.
import type { Task, Outcome } from "./task.ts";

export type FailurePolicy = "stop" | "skip" | "continue";

export interface ScheduleOptions {
  readonly tasks: readonly Task[];
  /** By task index. */
  readonly waitsFor: readonly (readonly number[])[];
  readonly limit: number;
  readonly onFailure: FailurePolicy;
  /** Runs a task to its end. Rejects with Refused when nothing was started for lack of resources. */
  run(task: Task): Promise<Outcome>;
  /** A task that never ran has its outcome. */
  settle(task: Task, outcome: Outcome): void;
  /** Whether a task that was started can be ended to start again: it has begun. Asked by `reach` alone. */
  mayEnd?(task: Task): boolean;
  /** Asked to end what runs; called at most once in a round. */
  stop(): void;
}

/** The system has no process or file descriptor to give right now. */
export class Refused extends Error {
  /** The system's. */
  readonly code: string;

  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}

export interface Failure {
  readonly task: Task;
  readonly outcome: Outcome;
}

export interface Schedule {
  /** The first failure, or null. From `again` on that of another round, where this one was over. */
  readonly finished: Promise<Failure | null>;
  /** Nothing runs, and nothing is going to. */
  readonly isIdle: boolean;
  /** Starts nothing any more; what runs is the caller's. */
  halt(): void;
  /**
   * With what waits for them, the failures that keep them from running, and what a failure has stopped, in plan order. What
   * is going to start anyway is not among them.
   */
  reach(tasks: readonly Task[]): Task[];
  /** Runs these again, in order; what runs of them the caller has asked to end. @param tasks what `reach` has returned */
  again(tasks: readonly Task[]): void;
}

export function startSchedule({
  tasks,
  waitsFor,
  onFailure,
  run,
  settle,
  stop,
  mayEnd,
  ...options
}: ScheduleOptions): Schedule {
  const waiting = tasks.map((_, index) => waitsFor[index]?.length ?? 0);
  const dependents: number[][] = tasks.map(() => []);
  for (const [index, targets] of waitsFor.entries())
    for (const target of targets) dependents[target]?.push(index);
  let ready = waiting.flatMap((count, index) => (count === 0 ? [index] : [])).reverse(); // the next one last
  const outcomes: (Outcome | undefined)[] = tasks.map(() => undefined);
  const running = new Set<number>();
  /** Of those that run: they are being ended, to start again. */
  const ending = new Set<number>();
  let limit = options.limit;
  let isHalted = false;
  /** By a failure. */
  let isStopped = false;
  let first: Failure | null = null;
  let isIdle = false;
  let { promise: finished, resolve, reject } = Promise.withResolvers<Failure | null>();

  function fill(): void {
    while (!isHalted && !isStopped && running.size < limit) {
      const index = ready.pop();
      if (index === undefined) break;
      const task = tasks[index]!;
      running.add(index);
      run(task).then(
        (outcome) => complete(task, outcome),
        (error: unknown) => refuse(task, error),
      );
    }
    if (running.size > 0) return;
    // Nothing runs and nothing can start: whatever is left was stopped.
    for (const task of tasks)
      if (!outcomes[task.index]) conclude(task, { kind: "stopped", wasRunning: false });
    isIdle = true;
    resolve(first);
  }

  function complete(task: Task, outcome: Outcome): void {
    running.delete(task.index);
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

  function skipDependents(cause: Task): void {
    const queue = [...(dependents[cause.index] ?? [])];
    for (let index = queue.shift(); index !== undefined; index = queue.shift()) {
      if (outcomes[index]) continue;
      conclude(tasks[index]!, { kind: "skipped", because: cause });
      queue.push(...(dependents[index] ?? []));
    }
  }

  function conclude(task: Task, outcome: Outcome): void {
    outcomes[task.index] = outcome;
    settle(task, outcome);
  }

  function refuse(task: Task, error: unknown): void {
    running.delete(task.index);
    if (!(error instanceof Refused) || running.size === 0) return reject(error);
    limit = running.size;
    insertReady(task.index);
    fill();
  }

  function insertReady(index: number): void {
    let at = ready.length;
    while (at > 0 && ready[at - 1]! < index) at--;
    ready.splice(at, 0, index);
  }

  function reach(wanted: readonly Task[]): Task[] {
    const reached = new Set(wanted.map(({ index }) => index));
    for (const { index } of tasks) if (isHeldBack(outcomes[index])) reached.add(index);
    // A Set is walked while it grows.
    for (const index of reached) {
      for (const dependent of dependents[index] ?? []) reached.add(dependent);
      for (const target of waitsFor[index] ?? [])
        if (outcomes[target] && outcomes[target].kind !== "success") reached.add(target);
    }
    return tasks.filter((task) => reached.has(task.index) && (outcomes[task.index] || isEndable(task)));
  }

  function isEndable(task: Task): boolean {
    return running.has(task.index) && !ending.has(task.index) && (mayEnd?.(task) ?? true);
  }

  function again(wanted: readonly Task[]): void {
    if (isHalted) return;
    isStopped = false;
    for (const { index } of wanted) {
      outcomes[index] = undefined;
      if (running.has(index)) ending.add(index);
      if (first?.task.index === index) first = null;
    }
    for (const { index } of tasks)
      waiting[index] = (waitsFor[index] ?? []).filter((target) => !outcomes[target]).length;
    ready = [];
    for (const { index } of tasks)
      if (!outcomes[index] && !running.has(index) && waiting[index] === 0) insertReady(index);
    if (isIdle) {
      isIdle = false;
      first = null;
      limit = options.limit;
      ({ promise: finished, resolve, reject } = Promise.withResolvers<Failure | null>());
    }
    fill();
  }

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

/** It never ran, because of what is another task's. */
function isHeldBack(outcome: Outcome | undefined): boolean {
  return outcome?.kind === "stopped" && !outcome.wasRunning;
}
