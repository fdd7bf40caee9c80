// The words of this folder: what is asked for, and the tasks that come of it.
import type { Child, ChildRequest } from "../../platform/contract/process-tree.ts";
import type { Outcome } from "./event.ts";
import type { ManySettings } from "../settings/many.ts";
import type { PackageJson } from "../workspace/package-json.ts";

/** How one script is started. Built by the caller, who knows shells, quoting and environments. */
export interface Command {
  /** The program's path; without it, `argv[0]` is looked up on PATH. */
  readonly program?: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
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
  /** Whether what it writes comes here, so that it may be evaluated here. */
  readonly isCollected: boolean;
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

/** A task that is not run again when nothing has changed: src/cache. */
export interface CachedTask {
  /** Its outputs are in place again; nothing is to be started. */
  readonly hit: CachedHit | undefined;
  /** Starts a step, by its position, and looks at what it does. */
  start(
    step: number,
    request: Pick<ChildRequest, "cwd" | "output" | "onOutput">,
  ): Child & { readonly isTraced: Promise<boolean> };
  environmentOf(step: number): Readonly<Record<string, string>>;
  /** It has ended. Lines for people. */
  close(outcome: Outcome["kind"]): Promise<readonly string[]>;
}

export interface TaskRequest extends ManySettings {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly silent: boolean;
  commandFor(request: CommandRequest): Command;
  /** Undefined for a task that is not cached; a notice where it cannot be. `extra` is added to its environment. */
  openCached?(
    task: Task,
    extra: Readonly<Record<string, string>>,
  ): Promise<CachedTask | { readonly notice: string } | undefined>;
  /** A word as one would type it in a shell. */
  quote(word: string): string;
  /**
   * Takes over when there is a single script to run and a terminal to give it: as if it had been started alone
   * in its package. Without it, it is run here with the terminal inherited.
   */
  runAlone?(task: Task): Promise<RunStatus>;
}

/** An exit code, or the signal to die by. */
export type RunStatus = number | { readonly signal: NodeJS.Signals };

export interface Step {
  readonly scriptName: string;
  /** As package.json has it. */
  readonly command: string;
  /** Only the script itself gets the arguments. */
  readonly isMain: boolean;
}

export interface Task {
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
  readonly steps: readonly Step[];
  readonly args: readonly string[];
}
