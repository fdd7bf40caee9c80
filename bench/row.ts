// One measured figure, as every bench module returns it.
import type { Timing } from "./processes.ts";

export interface Figure {
  /** The measured action and its unit. */
  figure: string;
  ours: string;
  /** The same figure of the peer, or of the floor. */
  peer: string;
  /** Above 1: rt is better, unless `goal` defines it otherwise. */
  ratio: number;
  /** The goal for `ratio`, for example ">= 2.5"; empty for a row without a goal. */
  goal: string;
  met: boolean;
}

/**
 * Returns a row for each peer: medians in milliseconds.
 *
 * @param goals the largest allowed share of the peer's time, or undefined for a row without a goal
 */
export function compareTimes(
  figure: string,
  [ours, ...peers]: readonly Timing[],
  goals: Readonly<Record<string, number | undefined>>,
  digits = 2,
): Figure[] {
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
