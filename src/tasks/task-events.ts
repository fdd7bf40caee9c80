// Everything that can happen in a run, as one union. The scheduler emits; only reporters turn it into text.
import type { ChildExit } from "../../platform/processes/contract/process-tree.ts";
import type { Hide } from "../redaction/text.ts";
import type { TaskOutcome, TaskStep, ScriptTask } from "./task.ts";
import type { Placement } from "./execution/placement.ts";

/** Times are milliseconds since the start of the run, of a watched one since that of the round. */
export type TaskEvent =
  | {
      readonly type: "step-start";
      readonly task: ScriptTask;
      readonly step: TaskStep;
      /** Puts names in place of values. Absent in a run without secrets. */
      readonly hide?: Hide | undefined;
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
      /** It was not run: what it did before was put back, and this much time saved, in milliseconds. */
      readonly saved?: number;
      /** Another one, which has run it in this run. */
      readonly machine?: string;
      readonly at: number;
      readonly duration: number;
    }
  | {
      readonly type: "task-end";
      readonly task: ScriptTask;
      readonly outcome: TaskOutcome;
      /** Of a script that is cached: why it ran, or by what it was found. */
      readonly why?: string;
      /** In a run of which something may run elsewhere. */
      readonly where?: Placement;
      /** Of a run on several machines: whose it was. */
      readonly machine?: string;
      readonly at: number;
      readonly duration: number;
    }
  | { readonly type: "notice"; readonly message: string }
  /** A line that is fit to be printed. */
  | { readonly type: "remark"; readonly line: string }
  /** These are about to end, if they run, and to start again. */
  | { readonly type: "again"; readonly tasks: readonly ScriptTask[] }
  | { readonly type: "interrupt"; readonly signal: NodeJS.Signals }
  /** The run stood still, with the terminal in other hands (Ctrl-Z and `fg`). */
  | { readonly type: "resume" };

export interface Reporter {
  /** A promise holds back the output of the task that the event is about. */
  report(event: TaskEvent): void | Promise<void>;
  /** The run is over. False when what was to be written could not be. */
  finish(): void | boolean | Promise<void | boolean>;
}
