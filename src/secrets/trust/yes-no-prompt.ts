// Questions to a person, on the terminal that standard input and standard error are. A pipe answers none.
//
// Surprising: the answer is read at once and by itself, without a stream: one that waits in a thread would take the first
// key that is meant for the script.
import { errorCode } from "../../../platform/caught-error.ts";
import { host } from "../../../platform/processes/process.ts";
import { report } from "../../output.ts";

export function canAsk(): boolean {
  return host.isTerminal(0) && host.isTerminal(2);
}

/** Lines, as they stand; what is in them is shown as printable() makes it. */
export function tell(lines: readonly string[]): void {
  report(lines.map((line) => `${line}\n`).join(""));
}

/** Whether a line came that says yes; everything else says no. Input from before the question is not an answer. */
export function askYes(question: string): boolean {
  const { readSync } = process.getBuiltinModule("node:fs");
  host.dropInput();
  report(`${question} [y/N] `);
  const line = new Uint8Array(1024);
  try {
    const length = readWhenThere(() => readSync(0, line));
    if (length === 0) report("\n");
    return /^\s*y(?:es)?\s*$/i.test(new TextDecoder().decode(line.subarray(0, length)));
  } catch {
    return false; // the terminal is gone
  }
}

const LOOK_AGAIN_AFTER = 20; // ms

/** Another program on the terminal may have left it so that a read does not wait. */
function readWhenThere(read: () => number): number {
  for (;;) {
    try {
      return read();
    } catch (error) {
      if (errorCode(error) !== "EAGAIN") throw error;
      Bun.sleepSync(LOOK_AGAIN_AFTER);
    }
  }
}
