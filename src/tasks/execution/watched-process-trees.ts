// Tracks the process trees of tasks in watch mode and ends them before a task restarts.
//
// Invariants:
// - Background processes of a task end before its next start, whatever their process group, session or parent is.
// - `end` returns at once. A running task ends, and an idle one may start, when all trees that were ended with it
//   are gone.
// - Survivors are killed after the grace period.
import { trees } from "../../../platform/processes/process-tree.ts";
import type { Child, StopSignal } from "../../../platform/processes/contract/process-tree.ts";
import type { ScriptTask } from "../task.ts";

/** Grace period between the first signal and SIGKILL, in milliseconds. */
export const GRACE_PERIOD = 5000;
const POLL_INTERVAL = 10; // ms

export class WatchedTrees {
  /** Children of each task's latest run whose trees may survive. */
  readonly #children = new Map<ScriptTask, Child[]>();
  /** Tasks that will restart, with a promise for the end of all trees that were ended together. */
  readonly #endings = new Map<ScriptTask, Promise<void>>();
  readonly #ends = new Map<ScriptTask, number>();
  readonly #active = new Set<ScriptTask>();
  readonly #begun = new Set<ScriptTask>();

  /** Children of all tasks, including ended ones that left background processes. */
  get children(): Child[] {
    return [...this.#children.values()].flat();
  }

  /** Waits until the previous trees of the task have ended. Returns whether the task has started before. */
  async begin(task: ScriptTask): Promise<boolean> {
    await this.#endings.get(task);
    this.#endings.delete(task);
    this.#children.delete(task);
    this.#ends.delete(task);
    this.#active.add(task);
    const isAgain = this.#begun.has(task);
    this.#begun.add(task);
    return isAgain;
  }

  add(task: ScriptTask, child: Child): void {
    this.#children.set(task, [...(this.#children.get(task) ?? []), child]);
  }

  /** Undefined unless the task is being ended. */
  endingOf(task: ScriptTask): Promise<void> | undefined {
    return this.#endings.get(task);
  }

  /** Forgets children without survivors, because the system may reuse their process ids. */
  finish(task: ScriptTask): void {
    this.#active.delete(task);
    const children = this.#children.get(task) ?? [];
    if (children.length > 0 && trees.hasSurvivors(children, [processTreeIdOf(task)])) return;
    this.#children.delete(task);
    this.#ends.set(task, Date.now());
  }

  end(tasks: readonly ScriptTask[], signal: StopSignal): void {
    const fresh = tasks.filter(
      (task) => !this.#endings.has(task) && (this.#active.has(task) || this.#children.has(task)),
    );
    if (fresh.length === 0) return;
    const children = fresh.flatMap((task) => this.#children.get(task) ?? []);
    const families = fresh.map(processTreeIdOf);
    if (children.length > 0) trees.signalTrees(children, signal, families);
    const ended = awaitEnd(children, families);
    for (const task of fresh) this.#endings.set(task, ended);
  }

  /** When the last of these trees had ended, in milliseconds since 1970; undefined while one runs. */
  endOf(tasks: readonly ScriptTask[]): number | undefined {
    if (tasks.some((task) => this.#active.has(task))) return undefined;
    for (const task of tasks) if (this.#children.has(task)) this.finish(task);
    if (tasks.some((task) => this.#children.has(task))) return undefined;
    return Math.max(0, ...tasks.map((task) => this.#ends.get(task) ?? 0));
  }

  isRunning(task: ScriptTask): boolean {
    return this.#active.has(task) && !this.#endings.has(task);
  }
}

/** Waits until the trees of the children have ended, and kills survivors after the grace period. */
export async function awaitEnd(children: readonly Child[], families?: readonly string[]): Promise<void> {
  const deadline = performance.now() + GRACE_PERIOD;
  while (trees.hasSurvivors(children, families)) {
    if (performance.now() > deadline) trees.signalTrees(children, "SIGKILL", families);
    await Bun.sleep(POLL_INTERVAL);
  }
}

/** Identifies a task's descendants by a marker variable, also when they have lost their parents. */
export function processTreeIdOf({ index }: ScriptTask): string {
  return `${process.pid}.${index}`;
}
