// What the tasks of a watched run are known by: of each that is cached, what its last run depended on that was kept. It
// outlives plans, of which each has tasks of its own.
import type { RecordedInputs, ScriptTask } from "../../tasks/task.ts";
import type { TaskWithInputs } from "./affected-tasks.ts";

export class KnownTasks {
  readonly #known = new Map<string, TaskWithInputs>();

  of(task: ScriptTask): TaskWithInputs | undefined {
    return this.#known.get(idOf(task));
  }

  /** @param inputs of its newest run; undefined where they are not known, as when it failed */
  set(task: ScriptTask, inputs: RecordedInputs | undefined): void {
    const before = inputs ?? this.of(task)?.inputs;
    if (before) this.#known.set(idOf(task), { inputs: before, isNewest: inputs !== undefined });
  }

  /** Whether a change of the path may matter to any. */
  has(path: string): boolean {
    for (const { inputs, isNewest } of this.#known.values())
      if (isNewest ? inputs.has(path) : inputs.hasRead(path)) return true;
    return false;
  }
}

function idOf({ packageDirectory, scriptName }: ScriptTask): string {
  return `${packageDirectory}\0${scriptName}`;
}
