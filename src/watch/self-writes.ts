// Whether a change of a file is the user's, and the script is to start again, or the script's own. Pure: no clock, no file.
//
// No system tells rt who has written a file, so it is told from what happens:
//
//   the same content, while the script runs        no change: a generator writes what is there already
//   any write, when nothing of the script is left  the user's
//   a change that comes again with each start,     the script's own: it is named, and left alone from then on
//     several starts in a row
//   everything else                                the user's
//
// A mistake must not cost the user's last save: a file is first held back until it rests, and the script starts again
// once more. A file that is left alone counts again when it has rested for longer: a person may edit it too.

export interface FileWrite {
  readonly path: string;
  /** The file holds what it held before. */
  readonly isEqual: boolean;
  /** Milliseconds, on the clock of `Run`. */
  readonly at: number;
}

export interface ScriptRun {
  /** Counts up by one at each start. */
  readonly number: number;
  readonly begin: number;
  /** When the last process of it had ended; undefined while there is one. */
  readonly end?: number | undefined;
}

/**
 * "hold": the file is suspected; once it has rested for HOLD the script starts again to see whether it comes again.
 * "named": it did. The file is left alone from now on, which is worth a word.
 */
export type WriteVerdict = "restart" | "none" | "hold" | "named";

export const HOLD = 2_000; // ms
/** A person may save a file twice so soon after a start, a program more often. */
const SOON = 1_000; // ms
/** Later, only what comes at the same moment of each start is suspect. */
const ALIKE = 0.2; // of the longest delay
const RUNS = 5;
/** What is left alone and has not been written for so long is the user's when it is. */
const REST = 10_000; // ms

interface History {
  /** Of the runs in a row that it started again: how long after their start it came. */
  delays: number[];
  run: number;
  at: number;
  heldSince: number | undefined;
  isOwn: boolean;
}

export class SelfWriteDetector {
  readonly #histories = new Map<string, History>();

  judge({ path, isEqual, at }: FileWrite, { number, begin, end }: ScriptRun): WriteVerdict {
    if (end !== undefined && at > end) return "restart";
    if (isEqual) return "none";
    const delay = Math.max(0, at - begin);
    const history = this.#historyOf(path, at);
    const hasRested = at - history.at >= REST;
    history.at = at;
    if (history.isOwn) return hasRested && delay > latest(history.delays) ? "restart" : "none";
    if (history.run === number) {
      if (history.heldSince === undefined) return "restart";
      return at - history.heldSince < REST ? "hold" : leaveAlone(history);
    }
    history.delays = history.run === number - 1 ? [...history.delays.slice(1 - RUNS), delay] : [delay];
    history.run = number;
    if (!comesWithStarts(history.delays)) {
      history.heldSince = undefined;
      return "restart";
    }
    if (history.heldSince !== undefined) return leaveAlone(history);
    history.heldSince = at;
    return "hold";
  }

  #historyOf(path: string, at: number): History {
    let history = this.#histories.get(path);
    if (!history) {
      history = { delays: [], run: Number.NaN, at, heldSince: undefined, isOwn: false };
      this.#histories.set(path, history);
    }
    return history;
  }
}

function leaveAlone(history: History): WriteVerdict {
  history.isOwn = true;
  return "named";
}

/** A start may take longer than those before. */
function latest(delays: readonly number[]): number {
  return SOON + 2 * Math.max(...delays);
}

function comesWithStarts(delays: readonly number[]): boolean {
  if (delays.length < RUNS) return false;
  const longest = Math.max(...delays);
  return longest < SOON || longest - Math.min(...delays) <= ALIKE * longest;
}
