// The state of each task of a schedule, and which queued task may start.
//
// Invariants:
// - Queued tasks start in plan order. Local and remote tasks have separate concurrency limits.
// - Two tasks with the same lock are never active at the same time.
// - While an interactive task runs, no other task starts. It starts when no other task runs, except ready services.
import type { ScriptTask } from "../task.ts";

/**
 * ```
 * waiting --its targets have ended or are ready--> queued --a slot is free--> running --> ended
 *    ^                                                                          |
 *    |                           a service: ready <-----------------------------+
 *    |                                        +--no task needs it--> released --> ended
 *    +-------- restarting <-- running, ready or released
 * ```
 */
export type TaskState = "waiting" | "queued" | "running" | "ready" | "released" | "restarting" | "ended";

/** States in which the task has been started and has not ended. */
const ACTIVE: ReadonlySet<TaskState> = new Set(["running", "ready", "released", "restarting"]);
/** States that count against the limit. */
const LIMITED: ReadonlySet<TaskState> = new Set(["running", "restarting"]);

export interface RemoteTasks {
  readonly limit: number;
  has(task: ScriptTask): boolean;
}

interface ConcurrencySlot {
  limit: number;
  /** Indices of queued tasks, descending. */
  readonly queue: number[];
  running: number;
}

export class TaskStates {
  /** Tasks that have been started and have not ended. */
  readonly active = new Set<number>();
  readonly #tasks: readonly ScriptTask[];
  readonly #limit: number;
  readonly #remoteTasks: RemoteTasks | undefined;
  readonly #states: TaskState[];
  readonly #local: ConcurrencySlot;
  readonly #remote: ConcurrencySlot;
  /** Locks of active tasks. */
  readonly #locked = new Set<string>();
  /** The active interactive task. */
  #terminalHolder: number | undefined;

  constructor(tasks: readonly ScriptTask[], limit: number, remoteTasks: RemoteTasks | undefined) {
    [this.#tasks, this.#limit, this.#remoteTasks] = [tasks, limit, remoteTasks];
    this.#states = tasks.map(() => "waiting");
    this.#local = { limit, queue: [], running: 0 };
    this.#remote = { limit: remoteTasks?.limit ?? 0, queue: [], running: 0 };
  }

  of(index: number): TaskState {
    return this.#states[index]!;
  }

  enter(index: number, state: TaskState): void {
    const before = this.of(index);
    const slot = this.#slotOf(index);
    this.#states[index] = state;
    slot.running += Number(LIMITED.has(state)) - Number(LIMITED.has(before));
    if (before === "queued") slot.queue.splice(slot.queue.lastIndexOf(index), 1);
    if (state === "queued") insertDescending(slot.queue, index);
    const lock = this.#lockOf(index);
    if (this.#isInteractive(index) && ACTIVE.has(state)) this.#terminalHolder = index;
    else if (this.#terminalHolder === index) this.#terminalHolder = undefined;
    if (ACTIVE.has(state)) {
      this.active.add(index);
      if (lock !== undefined) this.#locked.add(lock);
    } else if (this.active.delete(index) && lock !== undefined) this.#locked.delete(lock);
  }

  /** Returns the first queued task in plan order that may start. */
  findNext(): number | undefined {
    const first = Math.min(this.#firstOf(this.#local), this.#firstOf(this.#remote));
    return first === Infinity || this.#isHeldByTerminal(first) ? undefined : first;
  }

  /** Returns the first queued task of a slot that may start, or infinity. */
  #firstOf({ queue, running, limit }: ConcurrencySlot): number {
    if (running >= limit) return Infinity;
    return queue.findLast((index) => !this.#locked.has(this.#lockOf(index) ?? "")) ?? Infinity;
  }

  /** Whether an interactive task runs, or is the next one and has to wait. */
  #isHeldByTerminal(next: number): boolean {
    const isOccupied = this.#local.running + this.#remote.running > 0;
    return this.#terminalHolder !== undefined || (isOccupied && this.#isInteractive(next));
  }

  /** Limits the tasks of this one's kind to those that run now. Returns false if none runs. */
  lowerLimit(index: number): boolean {
    const slot = this.#slotOf(index);
    if (slot.running > 0) slot.limit = slot.running;
    return slot.running > 0;
  }

  resetLimit(): void {
    this.#local.limit = this.#limit;
  }

  #isInteractive(index: number): boolean {
    return this.#tasks[index]!.rule?.interactive === true;
  }

  #slotOf(index: number): ConcurrencySlot {
    return this.#remoteTasks?.has(this.#tasks[index]!) ? this.#remote : this.#local;
  }

  #lockOf(index: number): string | undefined {
    return this.#tasks[index]!.rule?.lock;
  }
}

function insertDescending(queue: number[], index: number): void {
  let at = queue.length;
  while (at > 0 && queue[at - 1]! < index) at--;
  queue.splice(at, 0, index);
}
