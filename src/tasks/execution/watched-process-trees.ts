// What the tasks of a watched run have started, and when it ends: there a task may be started many times, and what it has
// left behind ends before the next start, whatever group, session or parent it has by then.
//
// Contract: `end` returns at once; a task that runs comes back when nothing is left of any task that was ended with it, and
// one that does not run may start then. What does not end in time is killed.
import { trees } from "../../../platform/processes/process-tree.ts";
import type { Child, StopSignal } from "../../../platform/processes/contract/process-tree.ts";
import type { ScriptTask } from "../task.ts";

/** Milliseconds between a signal that asks and SIGKILL. */
export const GRACE = 5000;
const LOOK_AGAIN_AFTER = 10; // ms

export class WatchedTrees {
  /** What each task has started last and may have left something of. */
  readonly #children = new Map<ScriptTask, Child[]>();
  /** Tasks that are to start again, each with the end of all that was started before. */
  readonly #endings = new Map<ScriptTask, Promise<void>>();
  readonly #ends = new Map<ScriptTask, number>();
  readonly #active = new Set<ScriptTask>();
  readonly #begun = new Set<ScriptTask>();

  /** Of all tasks, those that have ended and left something among them. */
  get children(): Child[] {
    return [...this.#children.values()].flat();
  }

  /** Returns when what the task has started before is gone; whether it has begun before. */
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

  /** Undefined unless it was asked to end. */
  endingOf(task: ScriptTask): Promise<void> | undefined {
    return this.#endings.get(task);
  }

  /** Its children are forgotten when nothing is left of them: their numbers may be given to others. */
  finish(task: ScriptTask): void {
    this.#active.delete(task);
    const children = this.#children.get(task) ?? [];
    if (children.length > 0 && trees.hasSurvivors(children, [familyOf(task)])) return;
    this.#children.delete(task);
    this.#ends.set(task, Date.now());
  }

  end(tasks: readonly ScriptTask[], signal: StopSignal): void {
    const fresh = tasks.filter(
      (task) => !this.#endings.has(task) && (this.#active.has(task) || this.#children.has(task)),
    );
    if (fresh.length === 0) return;
    const children = fresh.flatMap((task) => this.#children.get(task) ?? []);
    const families = fresh.map(familyOf);
    if (children.length > 0) trees.signalTrees(children, signal, families);
    const ended = awaitEnd(children, families);
    for (const task of fresh) this.#endings.set(task, ended);
  }

  /** When the last of these tasks had ended, in milliseconds since 1970; undefined while something of them runs. */
  endOf(tasks: readonly ScriptTask[]): number | undefined {
    if (tasks.some((task) => this.#active.has(task))) return undefined;
    for (const task of tasks) if (this.#children.has(task)) this.finish(task);
    if (tasks.some((task) => this.#children.has(task))) return undefined;
    return Math.max(0, ...tasks.map((task) => this.#ends.get(task) ?? 0));
  }

  /** It has begun, and nobody has asked it to end. */
  isRunning(task: ScriptTask): boolean {
    return this.#active.has(task) && !this.#endings.has(task);
  }
}

async function awaitEnd(children: readonly Child[], families: readonly string[]): Promise<void> {
  const deadline = performance.now() + GRACE;
  while (trees.hasSurvivors(children, families)) {
    if (performance.now() > deadline) trees.signalTrees(children, "SIGKILL", families);
    await Bun.sleep(LOOK_AGAIN_AFTER);
  }
}

/** Tells what a task's descendants are from those of another, also when they have lost their parents. */
export function familyOf({ index }: ScriptTask): string {
  return `${process.pid}.${index}`;
}
