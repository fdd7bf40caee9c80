// The words of this folder: what is asked for, and the tasks that come of it.
import type {
  Child,
  ChildExit,
  ChildRequest,
  StopSignal,
} from "../../platform/processes/contract/process-tree.ts";
import type { Deliver, RedactedOutput } from "../redaction/stream.ts";
import type { Hide } from "../redaction/text.ts";
import type { ManySettings } from "../config/settings/many.ts";
import type { RunCoordinator } from "../distributed/coordinator.ts";
import type { Workspace } from "../workspace/members.ts";
import type { PackageJson, ScriptStep } from "../workspace/package-json.ts";
import type { RemoteEligibility, RemoteRun, RemotePreview } from "./execution/placement.ts";

/** How one script is started. Built by the caller, who knows shells, quoting and environments. */
export interface SpawnCommand {
  /** The program's path; without it, `argv[0]` is looked up on PATH. */
  readonly program?: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where it gets secrets: keeps their values out of what is delivered. */
  /** Puts names in place of values in a text of rt's own, which may have the user's arguments. */
  readonly hide?: Hide | undefined;
  readonly redact?: ((deliver: Deliver) => RedactedOutput) | undefined;
  /**
   * Where its output goes to the terminal as it is: runs it with its secrets kept out of that. Signals are its own affair.
   */
  readonly attend?: (() => Promise<ChildExit>) | undefined;
  /** Runs inside this process instead (the rest but `cwd` is not used). Ends at once, by itself. */
  readonly evaluate?: (() => Promise<{ readonly code: number; readonly stdout: Uint8Array }>) | undefined;
}

export interface CommandRequest {
  readonly packageDirectory: string;
  readonly manifest: PackageJson;
  /** The script itself: `prebuild` for the hook of `build`. */
  readonly scriptName: string;
  /** For the script; hooks get none. */
  readonly args: readonly string[];
  /** Whether it is the script itself, and no hook. */
  readonly isMain: boolean;
  /** Whether what it writes comes here, so that it may be evaluated here. */
  readonly isCollected: boolean;
  /** Whether it is started by who keeps what it does, so that it may not be evaluated. */
  readonly isKept?: boolean;
}

/** What an earlier run of a task wrote. */
export interface CachedHit {
  readonly pieces: readonly {
    readonly step: number;
    readonly isError: boolean;
    readonly bytes: Uint8Array;
  }[];
  /** How long it took then, in milliseconds. */
  readonly saved: number;
  /** Files that were put back. */
  readonly restored: number;
}

/** What the paths are that a hit was judged by, and what they were. */
export interface HitDependencies {
  readonly sights: ReadonlyMap<
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
  /** `saved` where it was not run, but put back what it did before, or on another machine: milliseconds. */
  | { readonly kind: "success"; readonly saved?: number; readonly machine?: string }
  | { readonly kind: "failure"; readonly code: number; readonly step: TaskStep }
  | { readonly kind: "signal"; readonly signal: NodeJS.Signals; readonly step: TaskStep }
  /** The command could not be started at all; the code is what a shell would say (127, 126). */
  | { readonly kind: "unstartable"; readonly code: number; readonly step: TaskStep; readonly reason: string }
  /** A task that it depends on did not succeed. */
  | { readonly kind: "skipped"; readonly because: ScriptTask }
  /** Ended, or never begun, because the run was stopped by a failure elsewhere or by a signal. */
  | { readonly kind: "stopped"; readonly wasRunning: boolean };

/** A task that is not run again when nothing has changed: src/cache. */
export interface CachedTask {
  /** Why it has to run, or by what it was found; for people. */
  readonly why: string;
  /** Its outputs are in place again; nothing is to be started. */
  readonly hit: CachedHit | undefined;
  /** By what that would be one again, for who remembers it. */
  readonly basis?: HitDependencies | undefined;
  /** Starts a step, by its position, and looks at what it does. */
  start(
    step: number,
    request: Pick<ChildRequest, "cwd" | "output" | "onOutput" | "family">,
  ): Child & { readonly isTraced: Promise<boolean> };
  /** What a step has written, as it is shown, is what a hit shows again. */
  keepOutput(step: number, bytes: Uint8Array, isError: boolean): void;
  environmentOf(step: number): Readonly<Record<string, string>>;
  /** What it depended on: of a hit, and after `close` where that is kept. */
  readonly inputs: RecordedInputs | undefined;
  /** After `close`: a file that was changed when it had read it. */
  readonly outdatedBy: string | undefined;
  /** After `close`: whether something is wrong though the script has ended well. */
  readonly isFaulty: boolean;
  /** It has ended. Lines for people. @param publication for the other machines of a run */
  close(outcome: TaskOutcome["kind"], publication?: Publication): Promise<readonly string[]>;
  /** Whether other machines can have what it makes. */
  readonly isShared: boolean;
  /** Takes what another machine made under a claim, as `hit`; false where it is not what it would make here: `why`. */
  take(claim: string): Promise<boolean>;
  /** What it wrote where it has failed under a claim; undefined where that is not to be had. */
  readFailure(claim: string): Promise<CachedHit["pieces"] | undefined>;
}

/** What a script makes for all machines of a run. */
export interface Publication {
  readonly claim: string;
  /** Whether it counts: not if another machine has claimed the script since. @param isThere whether others can have it */
  publish(isThere: boolean): Promise<boolean>;
}

/** What a task depended on when it ran last. Paths are absolute. */
export interface RecordedInputs {
  /** Where something may change that matters; not what is below them. */
  readonly directories: Iterable<string>;
  /** Whether a change of a path may matter. */
  has(path: string): boolean;
  /** Whether it has looked at the path, and not only at what is in its directory. */
  hasRead(path: string): boolean;
  /** Whether it is the task's own: never a reason to run it again. */
  isOwn(path: string): boolean;
  /** Whether there is something else at a path now than was found there. */
  differs(path: string): Promise<boolean>;
  /** The first path at which there is. */
  findChanged(): Promise<string | undefined>;
  /** What tells one run from another that found or made something else. */
  readonly print: string;
}

export interface CacheReason {
  readonly isHit: boolean;
  readonly why: string;
  /** What others have: whether it was asked for; undefined where nothing is shared. */
  readonly remote?: "asked" | "not asked" | "no answer" | undefined;
}

export interface TaskRequest extends ManySettings {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly silent: boolean;
  commandFor(request: CommandRequest): SpawnCommand;
  /** Undefined for a task that is not cached; a notice where it cannot be. `extra` is added to its environment. */
  openCached?(
    task: ScriptTask,
    extra: Readonly<Record<string, string>>,
  ): Promise<CachedTask | { readonly notice: string } | undefined>;
  /** Something is about to run: what was seen of files for tasks that are cached counts no more. */
  beforeStart?(): void;
  /** After the last task: what was learned for them is kept. */
  closeCache?(): void;
  /** Whether it would be run, and why; changes nothing. Absent where nobody wants to know. */
  explainCached?(task: ScriptTask, extra: Readonly<Record<string, string>>): Promise<CacheReason | undefined>;
  /**
   * Opens what goes on beside the run and is waited for at its end, before anything has started; undefined where there is
   * nothing. `tell` gives a line to people.
   */
  openBeside?(
    tasks: readonly ScriptTask[],
    tell: (line: string) => void,
  ): Promise<BackgroundWork | undefined>;
  /** What speaks for running a task on another machine; absent where there is none. */
  offerFor?(task: ScriptTask): RemoteEligibility;
  /**
   * Opens what carries tasks out there, before anything has started.
   * @param remote those that are to run there @param waitsFor by task index. Throws Failure.
   */
  openRemote?(
    remote: readonly ScriptTask[],
    plan: { readonly tasks: readonly ScriptTask[]; readonly waitsFor: readonly (readonly number[])[] },
  ): Promise<RemoteRun>;
  /** What would be sent of these. Throws Failure. */
  sketchRemote?: (
    ...of: Parameters<NonNullable<TaskRequest["openRemote"]>>
  ) => Promise<ReadonlyMap<ScriptTask, RemotePreview>>;
  /** Where other machines carry out the same: what they tell each other. Throws Failure. @param plan what no other plan is called */
  openBoard?(plan: string): Promise<RunCoordinator>;
  /** Why other machines cannot have what a script makes; undefined where they can. */
  whyUnshared?(task: ScriptTask): Promise<string | undefined>;
  /** The secrets that a step gets; absent where the run has none. */
  secretsOf?(manifest: PackageJson, scriptName: string, isMain: boolean): readonly StepSecret[];
  /** Called before the first of these starts, and in a watched run before one starts again. Throws Failure. */
  prepare?(tasks: readonly ScriptTask[]): Promise<void>;
  /** For output that no process of this run writes: what commands have as `redact`. */
  redaction?(): SpawnCommand["redact"];
  /** What is said for nothing where packages are these; lines for people. */
  adviseOn?(workspace: Workspace): readonly string[];
  /** A word as one would type it in a shell. */
  quote(word: string): string;
  /**
   * Takes over when there is a single script to run and a terminal to give it: as if it had been started alone
   * in its package. Without it, it is run here with the terminal inherited.
   */
  runAlone?(task: ScriptTask): Promise<RunStatus>;
  /** Whether its only script is shown as if it stood alone at the terminal, which one that is cached does not have. */
  readonly standsAlone?: boolean;
  /** Who has scripts run again, and ends the run. Without it a run is over when nothing of it runs. */
  readonly watcher?: WatchHooks;
}

export interface BackgroundWork {
  /** The last script has ended. Resolves when nothing goes on any more. */
  finish(): Promise<void>;
  /** The run was ended from outside: nobody waits. */
  abandon(): void;
}

export interface WatchHooks {
  /** What asks a script to end that is to start again. */
  readonly killSignal: StopSignal;
  /** The run has begun. */
  onBegin(run: WatchedRun): void;
  /** A task is about to start. */
  onStart(task: ScriptTask): void;
  /** It has ended, unless it was asked to, and may be asked for again now. @param cached where it has ended well */
  onEnd(task: ScriptTask, cached: Pick<CachedTask, "inputs" | "outdatedBy"> | undefined): Promise<void>;
  /** Whether a hit says nothing new, since it is what the task's newest run made, which was shown. */
  isShown(task: ScriptTask, inputs: RecordedInputs | undefined): boolean;
  /** Nothing runs any more. */
  onIdle(status: RunStatus): void;
  /** Nothing runs, and something is about to. */
  onRound(): Promise<void> | void;
}

/** A run that goes on until it is ended. */
export interface WatchedRun {
  /** Ends these tasks and what depends on them, and starts them again in order. Those that this does something to. */
  again(tasks: readonly ScriptTask[]): readonly ScriptTask[];
  /** Ends all of it; `runTasks` returns. */
  end(): void;
  /** A line on standard error, in its place among the scripts' output. */
  say(line: string): void;
  /** When the last of these had ended, with what it had started, in milliseconds since 1970; undefined while one runs. */
  endOf(tasks: readonly ScriptTask[]): number | undefined;
  isRunning(task: ScriptTask): boolean;
}

/** An exit code, or the signal to die by. */
export type RunStatus = number | { readonly signal: NodeJS.Signals };

/** A variable's name, and where its value comes from, for people. */
export interface StepSecret {
  readonly name: string;
  readonly source: string;
}

export interface TaskStep extends ScriptStep {
  /** Absent where there are none. */
  readonly secrets?: readonly StepSecret[];
}

export interface ScriptTask {
  /** Position in the plan: the order in which tasks start when nothing else decides. */
  readonly index: number;
  /** The package's name, its path when it has none; "" outside a workspace run. */
  readonly packageName: string;
  readonly packageDirectory: string;
  readonly manifest: PackageJson;
  readonly scriptName: string;
  /** `web build`, `web:build` or `build`: unique, for people. */
  readonly label: string;
  /** Before, the script, after. */
  readonly steps: readonly TaskStep[];
  readonly args: readonly string[];
}
