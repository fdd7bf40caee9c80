// The interfaces between a run and its list of tasks.
import type { TerminalDimensions } from "../../../platform/processes/contract/process-tree.ts";
import type { Reporter } from "../../tasks/task-events.ts";
import type { ScriptTask } from "../../tasks/task.ts";

/** Restarts and stops tasks of the run. */
export interface TaskControl {
  restart(task: ScriptTask): void;
  stop(task: ScriptTask): void;
}

export interface ListReporter extends Reporter {
  size(): TerminalDimensions;
  begin(control: TaskControl): void;
}
