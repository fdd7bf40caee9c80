// Starts tasks as soon as what they wait for has succeeded and a place is free.
//
// Contract: tasks start in plan order; never more than `limit` at once. After a failure either everything
// stops ("stop"), what depends on it is skipped ("skip"), or nothing changes ("continue"). The result names
// the failure that came first: its code is the run's.
//
// Surprising: the system may refuse one more process (`Refused`): the task then goes back to the front, and
// the limit shrinks to what did run.
import type { Outcome } from "./event.ts";
import type { Task } from "./task.ts";

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
  /** Asked to end what runs; called at most once. */
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
  /** The first failure, or null. */
  readonly finished: Promise<Failure | null>;
  /** Starts nothing any more; what runs is the caller's. */
  halt(): void;
}

export function startSchedule({
  tasks,
  waitsFor,
  onFailure,
  run,
  settle,
  stop,
  ...options
}: ScheduleOptions): Schedule {
  const waiting = tasks.map((_, index) => waitsFor[index]?.length ?? 0);
  const dependents: number[][] = tasks.map(() => []);
  for (const [index, targets] of waitsFor.entries())
    for (const target of targets) dependents[target]?.push(index);
  const ready = waiting.flatMap((count, index) => (count === 0 ? [index] : [])).reverse(); // the next one last
  const settled = new Uint8Array(tasks.length);
  let limit = options.limit;
  let running = 0;
  let isHalted = false;
  let first: Failure | null = null;
  const { promise: finished, resolve, reject } = Promise.withResolvers<Failure | null>();

  function fill(): void {
    while (!isHalted && running < limit) {
      const index = ready.pop();
      if (index === undefined) break;
      const task = tasks[index]!;
      running++;
      run(task).then(
        (outcome) => complete(task, outcome),
        (error: unknown) => refuse(task, error),
      );
    }
    if (running > 0) return;
    // Nothing runs and nothing can start: whatever is left was stopped.
    for (const task of tasks)
      if (!settled[task.index]) conclude(task, { kind: "stopped", wasRunning: false });
    resolve(first);
  }

  function complete(task: Task, outcome: Outcome): void {
    running--;
    settled[task.index] = 1;
    const isFailure = outcome.kind !== "success" && !(outcome.kind === "stopped" && isHalted);
    if (isFailure) first ??= { task, outcome };
    if (isFailure && onFailure === "stop" && !isHalted) {
      isHalted = true;
      stop();
    }
    if (isFailure && onFailure === "skip") skipDependents(task);
    else
      for (const index of dependents[task.index] ?? [])
        if (--waiting[index]! === 0 && !settled[index]) insertReady(index);
    fill();
  }

  function skipDependents(cause: Task): void {
    const queue = [...(dependents[cause.index] ?? [])];
    for (let index = queue.shift(); index !== undefined; index = queue.shift()) {
      if (settled[index]) continue;
      conclude(tasks[index]!, { kind: "skipped", because: cause });
      queue.push(...(dependents[index] ?? []));
    }
  }

  function conclude(task: Task, outcome: Outcome): void {
    settled[task.index] = 1;
    settle(task, outcome);
  }

  function refuse(task: Task, error: unknown): void {
    running--;
    if (!(error instanceof Refused) || running === 0) return reject(error);
    limit = running;
    insertReady(task.index);
    fill();
  }

  function insertReady(index: number): void {
    let at = ready.length;
    while (at > 0 && ready[at - 1]! < index) at--;
    ready.splice(at, 0, index);
  }

  fill();
  return {
    finished,
    halt() {
      isHalted = true;
    },
  };
}
