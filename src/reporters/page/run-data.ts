// What the page of a run is told, as JSON in it. Times are milliseconds since the run began; text from elsewhere but output
// is fit to be shown (src/printable.ts).

export type TaskStatus = "executed" | "cached" | "failed" | "skipped" | "stopped";

export interface RunTask {
  readonly label: string;
  /** From where the run was started; "" for there. */
  readonly directory: string;
  readonly state: TaskStatus;
  /** How it ended. */
  readonly message: string;
  /** Of a script that is cached: why it ran, or by what it was found. */
  readonly why?: string;
  /** On which machine, and why there; in a run that has others. */
  readonly where?: string;
  /** Of a run on several machines: whose it was. */
  readonly machine?: string;
  readonly start: number;
  readonly duration: number;
  readonly isCritical: boolean;
  /** When all that it waits for had ended. */
  readonly ready: number;
  /** What it waits for, by position. */
  readonly before: readonly number[];
  /** The one of these that ended last. */
  readonly last?: number;
  readonly steps: readonly {
    readonly script: string;
    readonly command: string;
    readonly duration: number | null;
    /** Names of its secrets. */
    readonly secrets: readonly string[];
  }[];
  /** As it was written, with what steers a terminal. */
  readonly output: string;
  /** Bytes that are left out between this and `outputEnd`. */
  readonly omitted: number;
  readonly outputEnd: string;
}

export interface RunData {
  readonly title: string;
  /** Of rt. */
  readonly version: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly duration: number;
  /** The critical path's. */
  readonly critical: number;
  /** How many scripts may run at a time, where that is fewer than there are. */
  readonly limit?: number;
  readonly isSequential: boolean;
  readonly notices: readonly string[];
  readonly tasks: readonly RunTask[];
}
