// Recorded inputs of the tasks of a watched run, by package and script. They outlive the plan, whose tasks are
// replaced.
import type { RecordedInputs } from "../../cache/cached-script.ts";
import { type ScriptTask, taskId } from "../../tasks/task.ts";
import type { TaskWithInputs } from "./affected-tasks.ts";

export class KnownTasks {
  readonly #known = new Map<string, TaskWithInputs>();

  of(task: ScriptTask): TaskWithInputs | undefined {
    return this.#known.get(taskId(task));
  }

  /** @param inputs of its latest run; undefined if they are unknown, for example after a failure */
  set(task: ScriptTask, inputs: RecordedInputs | undefined): void {
    const before = inputs ?? this.of(task)?.inputs;
    if (before) this.#known.set(taskId(task), { inputs: before, isNewest: inputs !== undefined });
  }

  /** Whether a change of the path may affect any task. */
  has(path: string): boolean {
    for (const { inputs, isNewest } of this.#known.values())
      if (isNewest ? inputs.has(path) : inputs.hasRead(path)) return true;
    return false;
  }
}
