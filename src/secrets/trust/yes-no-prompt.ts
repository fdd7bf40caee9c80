// Asks a yes/no question on the terminal of standard input and standard error. A pipe cannot answer.
//
// Non-obvious:
// - The answer is read synchronously, without a stream. A stream's blocked read in a thread would take the first key that is
//   meant for the script.
import { errorCode } from "../../../platform/caught-error.ts";
import { host } from "../../../platform/processes/process.ts";
import { report } from "../../output.ts";

export function canAsk(): boolean {
  return host.isTerminal(0) && host.isTerminal(2);
}

/** Prints lines. The caller escapes names in them with `printable`. */
export function printLines(lines: readonly string[]): void {
  report(lines.map((line) => `${line}\n`).join(""));
}

/** Returns true for a line "y" or "yes" only. Input that arrived before the question is discarded. */
export function askYes(question: string): boolean {
  const { readSync } = process.getBuiltinModule("node:fs");
  host.dropInput();
  report(`${question} [y/N] `);
  const line = new Uint8Array(1024);
  try {
    const length = readBlocking(() => readSync(0, line));
    if (length === 0) report("\n");
    return /^\s*y(?:es)?\s*$/i.test(new TextDecoder().decode(line.subarray(0, length)));
  } catch {
    return false; // the terminal was closed
  }
}

const POLL_INTERVAL = 20; // ms

/** Retries on EAGAIN: another program may have made the terminal non-blocking. */
function readBlocking(read: () => number): number {
  for (;;) {
    try {
      return read();
    } catch (error) {
      if (errorCode(error) !== "EAGAIN") throw error;
      Bun.sleepSync(POLL_INTERVAL);
    }
  }
}
