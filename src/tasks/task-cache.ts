// Declares the cache that the executor is given. src/runner/task-run implements it with src/cache.
import type { CachedRun, InputRecord } from "../cache/cached-script.ts";
import type { ScriptTask } from "./task.ts";

export interface TaskCache {
  /** Whether each task prints its miss reason or hit. */
  readonly isExplained: boolean;
  /**
   * Connects to the shared cache before the first task; undefined without one.
   * @param printLine prints a line for people @throws UserError
   */
  connect(
    tasks: readonly ScriptTask[],
    printLine: (line: string) => void,
  ): Promise<SharedCacheConnection | undefined>;
  /**
   * Looks a task up. Returns undefined for a task without a cache rule, a notice if it cannot be cached.
   * @param extra variables that are added to its environment
   */
  open(
    task: ScriptTask,
    extra: Readonly<Record<string, string>>,
  ): Promise<CachedRun | { readonly notice: string } | undefined>;
  /** Whether the cache may have the task's result. */
  mayHit(task: ScriptTask): boolean;
  /** Explains whether the task would run; changes nothing. */
  explain(task: ScriptTask, extra: Readonly<Record<string, string>>): Promise<CacheReason | undefined>;
  /**
   * Returns a function that finds what the last run of a task has read; it changes nothing. Call it for each task in the order of the
   * run.
   */
  openRecords(): Promise<(task: ScriptTask) => Promise<InputRecord | undefined>>;
  /** Invalidates the stat cache, because a process is about to start. */
  beforeStart(): void;
  /** Saves file hashes after the last task. */
  close(): void;
}

/** The shared cache during a run, with its uploads. */
export interface SharedCacheConnection {
  /** Waits for the uploads after the last task. */
  finish(): Promise<void>;
  /** Cancels the uploads, because a signal ended the run. */
  abandon(): void;
}

export interface CacheReason {
  readonly isHit: boolean;
  readonly why: string;
  /** In a dry run: a dependency that would run and may change the inputs, so this hit counts as a miss. */
  readonly cause?: ScriptTask | undefined;
  /** Whether the shared cache was queried; undefined without a shared cache. */
  readonly remote?: "asked" | "not asked" | "no answer" | undefined;
}
