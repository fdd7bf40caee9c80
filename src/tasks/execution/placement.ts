// Decides a task's placement: cached, remote or local. Declares the interface to remote execution
// (src/remote-execution),
// which this folder uses through these types only.
//
// Invariants: `choosePlacement` is pure, and `--dry-run` uses the same decision as the run.
import type { CacheReason } from "../task-cache.ts";
import type { TaskPlan } from "../planning/plan.ts";
import type { ScriptTask } from "../task.ts";

/** Reasons for and against running a task remotely. */
export interface RemoteEligibility {
  readonly server: string;
  /** Whether the command line requests it. */
  readonly isAsked: boolean;
  /** The script's setting in rtfig.toml; undefined if it has none. */
  readonly isDeclared: boolean | undefined;
  /** Whether the script has a local cache rule. */
  readonly isCached: boolean;
  /** Why the task has to run locally, for people. */
  readonly obstacle?: string | undefined;
}

export interface Placement {
  readonly place: "here" | "cache" | "remote";
  /** For people. */
  readonly why: string;
  readonly server?: string;
  /** Name of the remote worker, after the task has ended. */
  readonly machine?: string;
}

/** @param cached the result of the cache lookup, if the script has a cache rule */
export function choosePlacement(offer: RemoteEligibility, cached?: CacheReason): Placement {
  if (cached?.isHit) return { place: "cache", why: cached.why };
  const { server, isAsked, isDeclared, obstacle } = offer;
  if (isDeclared === false) return { place: "here", why: "disabled by rtfig.toml" };
  if (!isAsked && !isDeclared) return { place: "here", why: "not selected" };
  if (obstacle !== undefined) return { place: "here", why: obstacle };
  return {
    place: "remote",
    server,
    why: `selected by ${isAsked ? "--remote" : "rtfig.toml"}`,
  };
}

/** The inputs and outputs of a remote task. Computed without contacting the server. */
export interface RemotePreview {
  readonly files: number;
  /** Total size of the files. */
  readonly bytes: number;
  /** Tasks whose outputs are inputs of this one and are not available before they run. */
  readonly after: readonly ScriptTask[];
  readonly outputs: readonly string[];
  readonly variables: readonly string[];
  /** Action digest as `hash/size`; absent if `after` is not empty. */
  readonly action?: string;
}

export interface RemoteResult {
  readonly code: number;
  /** One entry for each step that ran, in order. */
  readonly logs: readonly { readonly stdout: Uint8Array; readonly stderr: Uint8Array }[];
  readonly machine: string | undefined;
  /** Set if the server had a cached result: the duration of the original run, in milliseconds. */
  readonly saved?: number | undefined;
  /** For people. */
  readonly warnings: readonly string[];
}

/**
 * The server rejected the task for lack of capacity. `refused` is the UserError that is thrown if no task of this
 * run is running there.
 */
export interface ServerBusy {
  readonly refused: unknown;
}

/** A server that may run tasks. */
export interface RemoteRunner {
  /** Reasons for and against running a task there. */
  eligibilityOf(task: ScriptTask): RemoteEligibility;
  /** Connects before the first task. @param tasks those that run there @throws UserError */
  open(tasks: readonly ScriptTask[], order: PlanOrder): Promise<RemoteRun>;
  /** Describes what would be sent for these tasks. @throws UserError */
  preview(tasks: readonly ScriptTask[], order: PlanOrder): Promise<ReadonlyMap<ScriptTask, RemotePreview>>;
}

/** The plan that the tasks are from; dependencies by task index. */
export type PlanOrder = Pick<TaskPlan, "tasks" | "waitsFor">;

/** Runs tasks on a remote server, for the duration of one run. */
export interface RemoteRun {
  /** Concurrency limit for remote tasks. */
  readonly limit: number;
  /**
   * Runs a task to its end; "stopped" if the run ended before. Outputs may be downloaded later (`downloadOutputs`).
   * @throws UserError that concerns all tasks
   * @param onStart called once when the server has accepted the task or returned a cached result
   */
  run(task: ScriptTask, onStart: () => void): Promise<RemoteResult | ServerBusy | "stopped">;
  /** Waits until the outputs of the task's remote dependencies are in place. @throws UserError */
  downloadOutputs(task: ScriptTask): Promise<void>;
  /** Invalidates cached file states, because a local process has run. */
  invalidateFiles(): void;
  /** Cancels running tasks. Outputs of tasks that have ended are still downloaded. */
  stop(): void;
  /** Cancels everything, downloads included. */
  abandon(): void;
  /** Waits after the last task until all outputs are in place. @throws UserError */
  finish(): Promise<void>;
}
