// One measured figure, as every bench module returns it.
import type { Timing } from "./processes.ts";

export interface Row {
  /** What was measured, and in which unit. */
  figure: string;
  ours: string;
  /** The same of the program we compare with, or of the floor. */
  peer: string;
  /** Above 1: ours is the better one, unless `goal` says how to read it. */
  ratio: number;
  /** What `ratio` is meant to be, for example ">= 2.5"; empty where a row only informs. */
  goal: string;
  met: boolean;
}

/**
 * A row for each peer: medians in milliseconds.
 * @param goals the most that ours may take in the peer's time, or undefined where a row only informs
 */
export function compareTimes(
  figure: string,
  [ours, ...peers]: readonly Timing[],
  goals: Readonly<Record<string, number | undefined>>,
  digits = 2,
): Row[] {
  return peers.map(({ name, median, ratio }) => {
    const goal = goals[name];
    return {
      figure: `${figure} : ${name}`,
      ours: `${ours!.median.toFixed(digits)} ms`,
      peer: `${median.toFixed(digits)} ms`,
      ratio,
      goal: goal === undefined ? "" : `<= ${goal}`,
      met: goal === undefined || ratio <= goal,
    };
  });
}
