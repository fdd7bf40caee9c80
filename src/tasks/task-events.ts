// Union of all events of a run. The executor emits them; reporters turn them into text.
import type { ChildExit, ChildTerminal } from "../../platform/processes/contract/process-tree.ts";
import type { ExplainedRefusal } from "../permissions/step-permissions.ts";
import type { Hide } from "../redaction/text.ts";
import type { TaskOutcome, TaskStep, ScriptTask } from "./task.ts";
import type { Placement } from "./execution/placement.ts";

/** A refusal by the permissions of a task, for reports. */
export interface TaskRefusal extends ExplainedRefusal {
  readonly task: ScriptTask;
}

/** Times are milliseconds since the start of the run, in watch mode since the start of the round. */
export type TaskEvent =
  | {
      readonly type: "step-start";
      readonly task: ScriptTask;
      readonly step: TaskStep;
      /** Replaces secret values by their names. Absent without secrets. */
      readonly hide?: Hide | undefined;
      /** Set if the step has a pseudo-terminal. */
      readonly terminal?: ChildTerminal | undefined;
      /** Whether the task has rt's terminal until it ends. */
      readonly takesTerminal?: boolean;
      readonly at: number;
    }
  /** `bytes` are only valid during the call. */
  | {
      readonly type: "output";
      readonly task: ScriptTask;
      readonly step: TaskStep;
      readonly bytes: Uint8Array;
      readonly isError: boolean;
    }
  | {
      readonly type: "step-end";
      readonly task: ScriptTask;
      readonly step: TaskStep;
      readonly exit: ChildExit;
      /** Set if the step did not run because its task was cached: the saved time in milliseconds. */
      readonly saved?: number;
      /** Another machine that ran it in this shared run. */
      readonly machine?: string;
      /** A service that rt has ended, because no task needed it any more. */
      readonly isStopped?: boolean;
      readonly at: number;
      readonly duration: number;
    }
  /** A service is ready. `how`: what shows it, for people; `duration`: since its process has started. */
  | {
      readonly type: "ready";
      readonly task: ScriptTask;
      readonly how: string;
      readonly at: number;
      readonly duration: number;
    }
  | {
      readonly type: "task-end";
      readonly task: ScriptTask;
      readonly outcome: TaskOutcome;
      /** The cache hit or miss reason, if the script has a cache rule. */
      readonly why?: string;
      /** Set if tasks of the run may be remote. */
      readonly where?: Placement;
      /** The machine that ran it, in a shared run. */
      readonly machine?: string;
      readonly at: number;
      readonly duration: number;
    }
  | { readonly type: "notice"; readonly message: string; readonly refused?: TaskRefusal }
  /** A printable line for people. */
  | { readonly type: "remark"; readonly line: string }
  /** These tasks restart; those that run are ended first. */
  | { readonly type: "again"; readonly tasks: readonly ScriptTask[] }
  | { readonly type: "interrupt"; readonly signal: NodeJS.Signals }
  /** The run is about to be suspended (Ctrl-Z). */
  | { readonly type: "suspend" }
  /** The run was suspended (Ctrl-Z) and has been continued. */
  | { readonly type: "resume" };

export interface Reporter {
  /** A returned promise delays further output of the event's task (backpressure). */
  report(event: TaskEvent): void | Promise<void>;
  /** The run is over. Returns false if output could not be written. */
  finish(): void | boolean | Promise<void | boolean>;
}
