// Types shared by planning, execution and reporters: the run request, tasks, steps, outcomes and the hooks of a
// watched run.
import type { ChildExit, StopSignal } from "../../platform/processes/contract/process-tree.ts";
import type { StepPermissions } from "../permissions/step-permissions.ts";
import type { Deliver, RedactedOutput } from "../redaction/stream.ts";
import type { Hide } from "../redaction/text.ts";
import type { Config } from "../config/rtfig.ts";
import type { TaskRule, TaskRules } from "../config/tasks/task-rules.ts";
import type { ManySettings } from "../config/settings/many.ts";
import type { CachedRun, RecordedInputs } from "../cache/cached-script.ts";
import type { Workspace } from "../workspace/members.ts";
import type { PackageJson, ScriptStep } from "../workspace/package-json.ts";
import type { RemoteRunner } from "./execution/placement.ts";
import type { RunSharing } from "./leases/shared-run.ts";
import type { TaskCache } from "./task-cache.ts";

/**
 * Describes how one step is started. The caller builds it; this folder does not handle shells, quoting or
 * environments.
 */
export interface SpawnCommand {
  /** The program's path; without it, `argv[0]` is looked up on PATH. */
  readonly program?: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether the program is rt, started as the engine. */
  readonly engine?: boolean | undefined;
  /** Set if the process tree is restricted. */
  readonly permissions?: StepPermissions | undefined;
  /** Replaces secret values by their names in rt's own text, which may contain the user's arguments. */
  readonly hide?: Hide | undefined;
  readonly redact?: ((deliver: Deliver) => RedactedOutput) | undefined;
  /** Runs the step on the inherited terminal and redacts its output. Handles signals itself. */
  readonly attend?: (() => Promise<ChildExit>) | undefined;
}

export interface CommandRequest {
  readonly task: Pick<ScriptTask, "scriptName" | "label" | "rule">;
  readonly packageDirectory: string;
  readonly manifest: PackageJson;
  /** The step's script: `prebuild` for the `pre` hook of `build`. */
  readonly scriptName: string;
  /** Arguments of the script; hooks get none. */
  readonly args: readonly string[];
  /** Whether the step is the script itself and not a hook. */
  readonly isMain: boolean;
  readonly isDependency: boolean;
  /** Whether rt reads the step's output from pipes. */
  readonly isCollected: boolean;
}

export type TaskOutcome =
  /**
   * `saved`: milliseconds saved because the result came from the cache or from another machine. `retries`: number of
   * failed attempts before. `isStopped`: rt has ended a service, because no task needed it any more.
   * `isUnneeded`: a service did not start, because its dependents ended without it.
   */
  | {
      readonly kind: "success";
      readonly saved?: number;
      readonly machine?: string;
      readonly retries?: number;
      readonly isStopped?: boolean;
      readonly isUnneeded?: boolean;
    }
  /**
   * `timeout`: the exceeded timeout of [tasks], as written there. `reason`: why a service failed, for people, instead of
   * its exit code.
   */
  | {
      readonly kind: "failure";
      readonly code: number;
      readonly step: TaskStep;
      readonly timeout?: string;
      readonly reason?: string;
    }
  | { readonly kind: "signal"; readonly signal: NodeJS.Signals; readonly step: TaskStep }
  /** The command could not be started. The code is the shell's (127, 126). */
  | { readonly kind: "unstartable"; readonly code: number; readonly step: TaskStep; readonly reason: string }
  /** A task that it depends on did not succeed. */
  | { readonly kind: "skipped"; readonly because: ScriptTask }
  /**
   * Ended early or never started, because another task failed or a signal ended the run. `because`: the service that has
   * ended while the task needed it.
   */
  | { readonly kind: "stopped"; readonly wasRunning: boolean; readonly because?: ScriptTask };

export interface TaskRequest extends ManySettings {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly silent: boolean;
  readonly taskRules?: TaskRules | undefined;
  readonly config?: Config | undefined;
  readonly selectsTasks?: boolean;
  commandFor(request: CommandRequest): SpawnCommand;
  /** Absent if nothing is cached. */
  readonly cache?: TaskCache | undefined;
  /** Absent without a server that runs tasks. */
  readonly remote?: RemoteRunner | undefined;
  /** Set for a shared run. */
  readonly sharing?: RunSharing | undefined;
  /** Absent without secrets. */
  readonly secrets?: TaskSecrets | undefined;
  /** Absent if no task has permissions. Implemented by src/permissions. */
  readonly permissions?: TaskRestrictions | undefined;
  /** Warnings about settings that match nothing in this workspace, and about arguments. */
  adviseOn?(workspace: Workspace): readonly string[];
  quote(word: string): string;
  /**
   * Takes over if there is a single script and a terminal, and runs it as if it had been started alone in its package. Without
   * this function the script inherits the terminal.
   */
  runAlone?(task: ScriptTask): Promise<RunStatus>;
  /** Whether a single cached script is shown without prefixes. A cached script does not get the terminal. */
  readonly standsAlone?: boolean;
  /** Whether a single task with permissions gets the terminal. */
  readonly inheritsTerminal?: boolean;
  /** Restarts tasks and ends the run. Without it, a run is over when its last task has ended. */
  readonly watcher?: WatchHooks;
}

/** The permissions of a run's tasks. */
export interface TaskRestrictions {
  isRestricted(task: ScriptTask): boolean;
  /** Describes the permissions of a task; undefined for one without. @throws UserError */
  describe(task: ScriptTask): readonly string[] | undefined;
  /** Checks system and trust before the first task starts. @throws UserError */
  prepare(tasks: readonly ScriptTask[]): Promise<void>;
  /** Called after a task has succeeded that is neither cached nor a service. It asks for commands again before it starts again. */
  release(task: ScriptTask): void;
}

export interface TaskSecrets {
  /** The secrets that a step gets. */
  of(
    manifest: PackageJson,
    scriptName: string,
    isMain: boolean,
    isDependency: boolean,
  ): readonly StepSecret[];
  /**
   * Reads the values before the first of these tasks starts, and in a watched run before one restarts.
   * @throws UserError
   */
  fetch(tasks: readonly ScriptTask[]): Promise<void>;
  /** Redaction for output that no process of this run writes; otherwise like `redact` of a command. */
  readonly redact: SpawnCommand["redact"];
}

export interface WatchHooks {
  /** The signal that ends a script before its restart. */
  readonly killSignal: StopSignal;
  onBegin(run: WatchedRun): void;
  onStart(task: ScriptTask): void;
  /**
   * A task has ended, and was not ended for a restart. It may be restarted from now on. @param cached set if it
   * succeeded
   */
  onEnd(task: ScriptTask, cached: Pick<CachedRun, "inputs" | "outdatedBy"> | undefined): Promise<void>;
  /** Whether the output of a hit is already on the screen, because it is from the task's latest run. */
  isShown(task: ScriptTask, inputs: RecordedInputs | undefined): boolean;
  onIdle(status: RunStatus): void;
  /** The first task after an idle period is about to start. */
  onRound(): Promise<void> | void;
}

/** A run that continues until `end` is called. */
export interface WatchedRun {
  /** Ends these tasks and their dependents and restarts them in order. Returns the tasks that are affected. */
  again(tasks: readonly ScriptTask[]): readonly ScriptTask[];
  /** Ends the run; `runTasks` returns. */
  end(): void;
  /** Prints a line on standard error, in order with the scripts' output. */
  say(line: string): void;
  /** When the last of these process trees had ended, in milliseconds since 1970; undefined while one runs. */
  endOf(tasks: readonly ScriptTask[]): number | undefined;
  isRunning(task: ScriptTask): boolean;
}

/** An exit code, or the signal that ends rt. */
export type RunStatus = number | { readonly signal: NodeJS.Signals };

/** The name of a variable, and for people the source of its value. */
export interface StepSecret {
  readonly name: string;
  readonly source: string;
}

export interface TaskStep extends ScriptStep {
  /** Absent if there are no secrets. */
  readonly secrets?: readonly StepSecret[];
}

export interface ScriptTask {
  /** Position in the plan. Ready tasks start in this order. */
  readonly index: number;
  /** The package's name, or its path if it has no name; "" outside a workspace run. */
  readonly packageName: string;
  readonly packageDirectory: string;
  readonly manifest: PackageJson;
  readonly scriptName: string;
  /** `web build`, `web:build` or `build`: unique, for people. */
  readonly label: string;
  /** The `pre` hook, the script, the `post` hook. */
  readonly steps: readonly TaskStep[];
  readonly args: readonly string[];
  /** Only other tasks need it: it gets neither the arguments nor the secrets of the command line. */
  readonly isDependency?: boolean;
  /** The label of a service that it depends on, also through other tasks. */
  readonly service?: string | undefined;
  /** The keys of [tasks] for it. */
  readonly rule?: TaskRule | undefined;
}

/** Identifies a task in all plans of a project. */
export function taskId({
  packageDirectory,
  scriptName,
}: Pick<ScriptTask, "packageDirectory" | "scriptName">): string {
  return `${packageDirectory}\0${scriptName}`;
}
