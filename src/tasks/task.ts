// Types shared by planning, execution and reporters: the run request, tasks, steps, outcomes and the hooks of a
// watched run.
import type {
  Child,
  ChildExit,
  ChildRequest,
  StopSignal,
} from "../../platform/processes/contract/process-tree.ts";
import type { Deliver, RedactedOutput } from "../redaction/stream.ts";
import type { Hide } from "../redaction/text.ts";
import type { TaskRule, TaskRules } from "../config/tasks/task-rules.ts";
import type { ManySettings } from "../config/settings/many.ts";
import type { RunCoordinator } from "../distributed/coordinator.ts";
import type { Workspace } from "../workspace/members.ts";
import type { PackageJson, ScriptStep } from "../workspace/package-json.ts";
import type { RemoteEligibility, RemoteRun, RemotePreview } from "./execution/placement.ts";

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
  /** Replaces secret values by their names in rt's own text, which may contain the user's arguments. */
  readonly hide?: Hide | undefined;
  readonly redact?: ((deliver: Deliver) => RedactedOutput) | undefined;
  /** Runs the step on the inherited terminal and redacts its output. Handles signals itself. */
  readonly attend?: (() => Promise<ChildExit>) | undefined;
}

export interface CommandRequest {
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

/** An earlier run's output and duration. */
export interface CachedHit {
  readonly pieces: readonly {
    readonly step: number;
    readonly isError: boolean;
    readonly bytes: Uint8Array;
  }[];
  /** The duration of the earlier run, in milliseconds. */
  readonly saved: number;
  /** Number of restored files. */
  readonly restored: number;
}

/** The path observations that decided a hit, for the run memo. */
export interface HitDependencies {
  readonly observations: ReadonlyMap<
    string,
    {
      readonly how: "state" | "names" | "content" | "way";
      readonly kind?: "absent" | "file" | "directory" | "link" | "other" | undefined;
    }
  >;
  readonly log: string;
  readonly used: number;
}

/** How a task ended. */
export type TaskOutcome =
  /**
   * `saved`: milliseconds saved because the result came from the cache or from another machine. `retries`: number of
   * failed attempts before.
   */
  | {
      readonly kind: "success";
      readonly saved?: number;
      readonly machine?: string;
      readonly retries?: number;
    }
  /** `timeout`: the exceeded timeout of [tasks], as written there. */
  | {
      readonly kind: "failure";
      readonly code: number;
      readonly step: TaskStep;
      readonly timeout?: string;
    }
  | { readonly kind: "signal"; readonly signal: NodeJS.Signals; readonly step: TaskStep }
  /** The command could not be started. The code is the shell's (127, 126). */
  | { readonly kind: "unstartable"; readonly code: number; readonly step: TaskStep; readonly reason: string }
  /** A task that it depends on did not succeed. */
  | { readonly kind: "skipped"; readonly because: ScriptTask }
  /** Ended early or never started, because another task failed or a signal ended the run. */
  | { readonly kind: "stopped"; readonly wasRunning: boolean };

/** A task with a `[run.cache]` rule. Implemented by src/cache. */
export interface CachedTask {
  /** The cache miss reason, or why it was a hit; for people. */
  readonly why: string;
  /** Set if the outputs have been restored and nothing has to be started. */
  readonly hit: CachedHit | undefined;
  /** The observations behind the hit, for the run memo. */
  readonly basis?: HitDependencies | undefined;
  /** Starts a step, by its position, under the tracer. */
  start(
    step: number,
    request: Pick<ChildRequest, "cwd" | "output" | "onOutput" | "family">,
  ): Child & { readonly isTraced: Promise<boolean> };
  /** Records redacted output of a step, to replay it on a hit. */
  keepOutput(step: number, bytes: Uint8Array, isError: boolean): void;
  environmentOf(step: number): Readonly<Record<string, string>>;
  /** The recorded dependencies: of a hit, and after `close` of a run that was stored. */
  readonly inputs: RecordedInputs | undefined;
  /** After `close`: a file that changed after the script had read it. */
  readonly outdatedBy: string | undefined;
  /** After `close`: whether the task fails although the script succeeded. */
  readonly isFaulty: boolean;
  /**
   * Stores the run. Returns warnings for people. @param publication publishes the result to the other machines of a
   * shared run
   */
  close(outcome: TaskOutcome["kind"], publication?: Publication): Promise<readonly string[]>;
  /** Whether other machines can restore the outputs. */
  readonly isShared: boolean;
  /**
   * Restores what another machine published under a lease, as `hit`. Returns false if the result is not valid
   * locally; `why` has the reason.
   */
  take(claim: string): Promise<boolean>;
  /** The output of a run that failed under a lease; undefined if it is unavailable. */
  readFailure(claim: string): Promise<CachedHit["pieces"] | undefined>;
}

/** Publishes a result to all machines of a shared run. */
export interface Publication {
  readonly claim: string;
  /**
   * Returns false if another machine has acquired the lease since. @param isThere whether others can restore the
   * outputs
   */
  publish(isThere: boolean): Promise<boolean>;
}

/** Recorded dependencies of a task's last run. Paths are absolute. */
export interface RecordedInputs {
  /** Directories in which a change may matter, without their subdirectories. */
  readonly directories: Iterable<string>;
  /** Whether a change of the path may matter. */
  has(path: string): boolean;
  /** Whether the task accessed the path itself, and did not only list its directory. */
  hasRead(path: string): boolean;
  /** Whether the path is the task's own output, which never restarts it. */
  isOwn(path: string): boolean;
  /** Whether the path differs from its recorded state. */
  differs(path: string): Promise<boolean>;
  /** The first path that differs. */
  findChanged(): Promise<string | undefined>;
  /** Equal for two runs with the same dependencies and outputs. */
  readonly print: string;
}

export interface CacheReason {
  readonly isHit: boolean;
  readonly why: string;
  /** Set for a hit that a task would end that is going to run, because this one depends on it. */
  readonly cause?: ScriptTask | undefined;
  /** Whether the shared cache was asked; undefined without a shared cache. */
  readonly remote?: "asked" | "not asked" | "no answer" | undefined;
}

export interface TaskRequest extends ManySettings {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly silent: boolean;
  /** [tasks] of rtfig.toml. */
  readonly taskRules?: TaskRules | undefined;
  commandFor(request: CommandRequest): SpawnCommand;
  /**
   * Returns undefined for a task without a cache rule, a notice if it cannot be cached. `extra` is added to its
   * environment.
   */
  openCached?(
    task: ScriptTask,
    extra: Readonly<Record<string, string>>,
  ): Promise<CachedTask | { readonly notice: string } | undefined>;
  /** Invalidates the stat cache, because a process is about to start. */
  beforeStart?(): void;
  /** Called after the last task; persists the file-hash cache. */
  closeCache?(): void;
  /** Explains whether the task would run; changes nothing. Absent unless explanations are requested. */
  explainCached?(task: ScriptTask, extra: Readonly<Record<string, string>>): Promise<CacheReason | undefined>;
  /**
   * Starts background work of the run before the first task, or returns undefined. The run waits for it at its end.
   * `printLine` prints a line for people.
   */
  openBackgroundWork?(
    tasks: readonly ScriptTask[],
    printLine: (line: string) => void,
  ): Promise<BackgroundWork | undefined>;
  /** Decides whether a task may run on another machine; absent without a server. */
  eligibilityOf?(task: ScriptTask): RemoteEligibility;
  /**
   * Connects to the server before the first task starts.
   * @param remote the tasks that run there @param waitsFor by task index @throws UserError
   */
  openRemote?(
    remote: readonly ScriptTask[],
    plan: { readonly tasks: readonly ScriptTask[]; readonly waitsFor: readonly (readonly number[])[] },
  ): Promise<RemoteRun>;
  /** Previews what would be sent for these tasks. @throws UserError */
  previewRemote?: (
    ...of: Parameters<NonNullable<TaskRequest["openRemote"]>>
  ) => Promise<ReadonlyMap<ScriptTask, RemotePreview>>;
  /** Connects to the coordinator of a shared run. @param plan hash that identifies the plan @throws UserError */
  openCoordinator?(plan: string): Promise<RunCoordinator>;
  /** Why other machines cannot restore a script's outputs; undefined if they can. */
  whyUnshared?(task: ScriptTask): Promise<string | undefined>;
  /** The secrets that a step gets; absent without secrets. */
  secretsOf?(
    manifest: PackageJson,
    scriptName: string,
    isMain: boolean,
    isDependency: boolean,
  ): readonly StepSecret[];
  /** Called before the first of these tasks starts, and in a watched run before one restarts. @throws UserError */
  prepare?(tasks: readonly ScriptTask[]): Promise<void>;
  /** Redaction for output that no process of this run writes; otherwise like `redact` of a command. */
  redaction?(): SpawnCommand["redact"];
  /** Warnings about settings that match nothing in this workspace. */
  adviseOn?(workspace: Workspace): readonly string[];
  /** Quotes a word for a shell. */
  quote(word: string): string;
  /**
   * Takes over if there is a single script and a terminal, and runs it as if it had been started alone in its package. Without
   * this function the script inherits the terminal.
   */
  runAlone?(task: ScriptTask): Promise<RunStatus>;
  /** Whether a single cached script is shown without prefixes. A cached script does not get the terminal. */
  readonly standsAlone?: boolean;
  /** Restarts tasks and ends the run. Without it, a run is over when its last task has ended. */
  readonly watcher?: WatchHooks;
}

export interface BackgroundWork {
  /** Waits for the end of the work, after the last script. */
  finish(): Promise<void>;
  /** Gives the work up, because a signal ended the run. */
  abandon(): void;
}

export interface WatchHooks {
  /** The signal that ends a script before its restart. */
  readonly killSignal: StopSignal;
  /** The run has started. */
  onBegin(run: WatchedRun): void;
  /** A task is about to start. */
  onStart(task: ScriptTask): void;
  /**
   * A task has ended, and was not ended for a restart. It may be restarted from now on. @param cached set if it
   * succeeded
   */
  onEnd(task: ScriptTask, cached: Pick<CachedTask, "inputs" | "outdatedBy"> | undefined): Promise<void>;
  /** Whether the output of a hit is already on the screen, because it is from the task's latest run. */
  isShown(task: ScriptTask, inputs: RecordedInputs | undefined): boolean;
  /** No task runs. */
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
  /** The keys of [tasks] for it. */
  readonly rule?: TaskRule | undefined;
}
