// Starts tasks as soon as what they wait for has succeeded and a place is free.
//
// Contract: tasks start in plan order; never more than `limit` at once, and as many again of those that run elsewhere as
// their own limit says. After a failure either everything
// stops ("stop"), what depends on it is skipped ("skip"), or nothing changes ("continue"). The result names
// the failure that came first: its code is the run's. A run that is watched has many rounds: tasks may be asked for again
// while others run, or when nothing does, and a task that runs is started again when the caller has ended it.
//
// Surprising: the system may refuse one more process (`Refused`): the task then goes back to the front, and
// the limit shrinks to what did run.
import type { ScriptTask, TaskOutcome } from "../task.ts";

export type FailurePolicy = "stop" | "skip" | "continue";

export interface ScheduleOptions {
  readonly tasks: readonly ScriptTask[];
  /** By task index. */
  readonly waitsFor: readonly (readonly number[])[];
  readonly limit: number;
  /** Tasks with places of their own, on other machines. */
  readonly elsewhere?: { readonly limit: number; has(task: ScriptTask): boolean } | undefined;
  readonly onFailure: FailurePolicy;
  /** Runs a task to its end. Rejects with Refused when nothing was started for lack of resources. */
  run(task: ScriptTask): Promise<TaskOutcome>;
  /** A task that never ran has its outcome. */
  settle(task: ScriptTask, outcome: TaskOutcome): void;
  /** Whether a task that was started can be ended to start again: it has begun. Asked by `reach` alone. */
  mayEnd?(task: ScriptTask): boolean;
  /** Asked to end what runs; called at most once in a round. */
  stop(): void;
}

/** The system, or another machine, has no process or file descriptor to give right now. Its `cause` is thrown instead. */
export class ResourceExhausted extends Error {
  /** The system's. */
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
  /** The first failure, or null. From `again` on that of another round, where this one was over. */
  readonly finished: Promise<TaskFailure | null>;
  /** Nothing runs, and nothing is going to. */
  readonly isIdle: boolean;
  /** Starts nothing any more; what runs is the caller's. */
  halt(): void;
  /**
   * With what waits for them, the failures that keep them from running, and what a failure has stopped, in plan order. What
   * is going to start anyway is not among them.
   */
  reach(tasks: readonly ScriptTask[]): ScriptTask[];
  /** Runs these again, in order; what runs of them the caller has asked to end. @param tasks what `reach` has returned */
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
  elsewhere,
  ...options
}: ScheduleOptions): Schedule {
  const waiting = tasks.map((_, index) => waitsFor[index]?.length ?? 0);
  const dependents: number[][] = tasks.map(() => []);
  for (const [index, targets] of waitsFor.entries())
    for (const target of targets) dependents[target]?.push(index);
  const here: ConcurrencySlot = { limit: options.limit, ready: [], running: 0 };
  const there: ConcurrencySlot = { limit: elsewhere?.limit ?? 0, ready: [], running: 0 };
  const placeOf = (index: number) => (elsewhere?.has(tasks[index]!) ? there : here);
  const outcomes: (TaskOutcome | undefined)[] = tasks.map(() => undefined);
  const running = new Set<number>();
  /** Of those that run: they are being ended, to start again. */
  const ending = new Set<number>();
  let isHalted = false;
  /** By a failure. */
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
      placeOf(index).running++;
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

  /** The next in plan order that has room. */
  function takeReady(): number | undefined {
    let first: ConcurrencySlot | undefined;
    for (const place of [here, there])
      if (place.running < place.limit && place.ready.length > 0)
        if (!first || place.ready.at(-1)! < first.ready.at(-1)!) first = place;
    return first?.ready.pop();
  }

  function leave(index: number): void {
    running.delete(index);
    placeOf(index).running--;
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
    const place = placeOf(task.index);
    if (!(error instanceof ResourceExhausted)) return reject(error);
    if (place.running === 0) return reject(error.cause ?? error);
    place.limit = place.running;
    insertReady(task.index);
    fill();
  }

  function insertReady(index: number): void {
    const { ready } = placeOf(index);
    let at = ready.length;
    while (at > 0 && ready[at - 1]! < index) at--;
    ready.splice(at, 0, index);
  }

  function reach(wanted: readonly ScriptTask[]): ScriptTask[] {
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
    for (const place of [here, there]) place.ready.length = 0;
    for (const { index } of tasks)
      if (!outcomes[index] && !running.has(index) && waiting[index] === 0) insertReady(index);
    if (isIdle) {
      isIdle = false;
      first = null;
      here.limit = options.limit;
      ({ promise: finished, resolve, reject } = Promise.withResolvers<TaskFailure | null>());
    }
    fill();
  }

  for (let index = tasks.length - 1; index >= 0; index--)
    if (waiting[index] === 0) placeOf(index).ready.push(index); // the next one last
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
  /** Descending. */
  readonly ready: number[];
  running: number;
}

/** It never ran, because of what is another task's. */
function isHeldBack(outcome: TaskOutcome | undefined): boolean {
  return outcome?.kind === "stopped" && !outcome.wasRunning;
}
