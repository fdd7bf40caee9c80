// One measured figure, as every bench module returns it.

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
