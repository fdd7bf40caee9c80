// What the page of a plan is told, as JSON in it. Text is fit to be shown (src/printable.ts); lengths are pixels.

export interface PlanTask {
  readonly label: string;
  /** From where the run would be started; "" for there. */
  readonly directory: string;
  readonly commands: readonly string[];
  /** Whether its result is cached, so that it would not run. */
  readonly isHit: boolean;
  /** Why it would run or not, and why it is one of them. The first is the most specific. */
  readonly reasons: readonly string[];
  /** What it waits for, by position. */
  readonly before: readonly number[];
}

export interface Box {
  /** Of its middle. */
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
  /** "3 scripts would run", say. */
  readonly count: string;
  /** "in order", say. */
  readonly mode: string;
  readonly notices: readonly string[];
  /** Why all of them are in the plan, where they have reasons in common. */
  readonly common: readonly string[];
  readonly tasks: readonly PlanTask[];
  readonly drawing: Drawing;
}
