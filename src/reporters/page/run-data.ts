// JSON data of a run page. Times are milliseconds since the start of the run. Text except output is printable
// (src/printable.ts).

export type TaskStatus = "executed" | "cached" | "failed" | "skipped" | "stopped";

export interface RunTask {
  readonly label: string;
  /** Relative to the working directory of the run; "" for that directory. */
  readonly directory: string;
  readonly state: TaskStatus;
  /** The outcome. */
  readonly message: string;
  /** The cache hit or miss reason, if the script has a cache rule. */
  readonly why?: string;
  /** The placement and its reason, if tasks of the run may be remote. */
  readonly where?: string;
  /** The machine that ran it, in a shared run. */
  readonly machine?: string;
  /** Refusals by its permissions; sentences. */
  readonly refusals?: readonly string[];
  readonly start: number;
  readonly duration: number;
  readonly isCritical: boolean;
  /** The end of its last dependency. */
  readonly ready: number;
  /** Dependencies, by position. */
  readonly before: readonly number[];
  /** The dependency that ended last. */
  readonly last?: number;
  readonly steps: readonly {
    readonly script: string;
    readonly command: string;
    readonly duration: number | null;
    readonly secrets: readonly string[];
  }[];
  /** Unmodified output, with control sequences. */
  readonly output: string;
  /** Number of bytes omitted between `output` and `outputEnd`. */
  readonly omitted: number;
  readonly outputEnd: string;
}

export interface RunData {
  readonly title: string;
  readonly version: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly duration: number;
  /** Duration of the critical path. */
  readonly critical: number;
  /** The concurrency limit, if it is smaller than the number of tasks. */
  readonly limit?: number;
  readonly isSequential: boolean;
  readonly notices: readonly string[];
  readonly tasks: readonly RunTask[];
}
