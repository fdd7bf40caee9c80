// Decides whether a file change is a self-write of the watched script or a user's change. Pure: no clock and no
// file access.
//
// The system does not report which process wrote a file, so the decision is heuristic.
//
// - Same content while the script runs: no change, a generator rewrote its output.
// - A write after the script's last process has ended: the user's.
// - A change that recurs after each of several starts: a self-write. It is reported once, then ignored.
// - Every other write: the user's.
//
// Invariants: a wrong decision never loses the user's last save. A suspected file is held until it rests, and then
// restarts the script once more. An ignored file that rested for REST_TIME counts as the user's again.

export interface FileWrite {
  readonly path: string;
  /** The content is unchanged. */
  readonly isEqual: boolean;
  /** Milliseconds, on the clock of `ScriptRun`. */
  readonly at: number;
}

export interface ScriptRun {
  /** Increases by one at each start. */
  readonly number: number;
  readonly begin: number;
  /** When the last process of the run had ended; undefined while one runs. */
  readonly end?: number | undefined;
}

/**
 * "hold": a suspected self-write. After HOLD_TIME without a write the script restarts, to see whether the write recurs.
 * "named": the write recurred. The file is ignored from now on and reported.
 */
export type WriteVerdict = "restart" | "none" | "hold" | "named";

export const HOLD_TIME = 2_000; // ms
/** A user rarely saves a file more than twice this soon after a start. */
const EARLY = 1_000; // ms
/** Later writes are suspect only if their delays after each start differ by less than this fraction. */
const DELAY_TOLERANCE = 0.2; // of the longest delay
const MIN_RUNS = 5;
/** An ignored file that was not written for this long counts as the user's at the next write. */
const REST_TIME = 10_000; // ms

interface WriteHistory {
  /** Delays of the writes after the starts that they caused, for consecutive runs. */
  delays: number[];
  run: number;
  at: number;
  heldSince: number | undefined;
  isOwn: boolean;
}

export class SelfWriteDetector {
  readonly #histories = new Map<string, WriteHistory>();

  classify({ path, isEqual, at }: FileWrite, { number, begin, end }: ScriptRun): WriteVerdict {
    if (end !== undefined && at > end) return "restart";
    if (isEqual) return "none";
    const delay = Math.max(0, at - begin);
    const history = this.#historyOf(path, at);
    const hasRested = at - history.at >= REST_TIME;
    history.at = at;
    if (history.isOwn) return hasRested && delay > latestSelfWrite(history.delays) ? "restart" : "none";
    if (history.run === number) {
      if (history.heldSince === undefined) return "restart";
      return at - history.heldSince < REST_TIME ? "hold" : ignoreFrom(history);
    }
    history.delays = history.run === number - 1 ? [...history.delays.slice(1 - MIN_RUNS), delay] : [delay];
    history.run = number;
    if (!recursWithStarts(history.delays)) {
      history.heldSince = undefined;
      return "restart";
    }
    if (history.heldSince !== undefined) return ignoreFrom(history);
    history.heldSince = at;
    return "hold";
  }

  #historyOf(path: string, at: number): WriteHistory {
    let history = this.#histories.get(path);
    if (!history) {
      history = { delays: [], run: Number.NaN, at, heldSince: undefined, isOwn: false };
      this.#histories.set(path, history);
    }
    return history;
  }
}

function ignoreFrom(history: WriteHistory): WriteVerdict {
  history.isOwn = true;
  return "named";
}

/** Tolerance for a start that takes longer than the earlier ones. */
function latestSelfWrite(delays: readonly number[]): number {
  return EARLY + 2 * Math.max(...delays);
}

function recursWithStarts(delays: readonly number[]): boolean {
  if (delays.length < MIN_RUNS) return false;
  const longest = Math.max(...delays);
  return longest < EARLY || longest - Math.min(...delays) <= DELAY_TOLERANCE * longest;
}
