// JSON data of a plan page. Text is printable (src/printable.ts); lengths are pixels.

export interface PlanTask {
  readonly label: string;
  /** Relative to the working directory of the run; "" for that directory. */
  readonly directory: string;
  readonly commands: readonly string[];
  /** Whether its result is cached, so that it would not run. */
  readonly isHit: boolean;
  /** The cache hit or miss reason, and why the plan contains the task. The first one is the most specific. */
  readonly reasons: readonly string[];
  /** Dependencies, by position. */
  readonly before: readonly number[];
}

export interface Box {
  /** The centre. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Arrow {
  readonly from: number;
  readonly to: number;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

export interface Drawing {
  readonly width: number;
  readonly height: number;
  /** By task. */
  readonly boxes: readonly Box[];
  readonly arrows: readonly Arrow[];
}

export interface PlanData {
  readonly title: string;
  readonly version: string;
  /** For example "3 scripts would run". */
  readonly count: string;
  /** For example "in order". */
  readonly mode: string;
  readonly notices: readonly string[];
  /** Reasons that all tasks of the plan have in common. */
  readonly common: readonly string[];
  readonly tasks: readonly PlanTask[];
  readonly drawing: Drawing;
}
