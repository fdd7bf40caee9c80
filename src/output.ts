// Writes rt's own text: results to standard output, messages to standard error.
//
// Invariants:
// - Bytes are written at the descriptor's position, which other processes that share the file also advance.
// - Every byte is written exactly once, also to a non-blocking pipe.
// Non-obvious:
// - `Bun.write(Bun.stdout)` is not used: it keeps a separate file offset, and repeats bytes that a full pipe already accepted.
import { forbidReplay } from "../platform/files/lookup-recorder.ts";
import { host } from "../platform/processes/process.ts";
import { errorCode } from "../platform/caught-error.ts";
import { outputs } from "../platform/terminal/output.ts";
import { wantsColor } from "./color.ts";
import { UserError } from "./user-error.ts";

const RETRY_DELAY_MS = 1000; // longest wait before the next attempt

const encoder = new TextEncoder();

/** @throws the system's error, with its `code` */
export function writeOwn(descriptor: 1 | 2, data: string | Uint8Array): void {
  forbidReplay();
  const bytes = typeof data === "string" ? encoder.encode(data) : data;
  for (let start = 0; start < bytes.length;) {
    const count = outputs.writeSome(descriptor, bytes.subarray(start));
    if (count === 0) outputs.awaitWritable(descriptor, RETRY_DELAY_MS);
    start += count;
  }
}

/**
 * Prints a line to standard output. Ignores EPIPE: the reader has closed the pipe.
 * @throws UserError
 */
export function printLine(text: string): void {
  try {
    writeOwn(1, `${text}\n`);
  } catch (error) {
    const code = errorCode(error);
    if (code !== "EPIPE") throw new UserError(`Cannot write to standard output (${code})`);
  }
}

/** Writes text to standard error. Ignores a failure, which could not be reported. */
export function report(text: string): void {
  try {
    writeOwn(2, text);
  } catch {
    // Standard error is the last resort.
  }
}

/** Colours of the labels that a message begins with, on a terminal. */
const LABELS: Readonly<Record<string, number>> = {
  // Without a prototype, so that a line that begins with "constructor:" has no colour.
  __proto__: null as never,
  error: 31,
  warning: 33,
  hint: 36,
};

/** Returns a line with its label in colour if the descriptor is a terminal. */
export function colorLabel(text: string, descriptor: 1 | 2 = 2): string {
  const [label = ""] = text.split(":", 1);
  const color = LABELS[label];
  const useColor =
    color !== undefined && wantsColor(host.originalVariable, () => host.isTerminal(descriptor));
  return useColor ? `\x1b[${color}m${label}:\x1b[39m${text.slice(label.length + 1)}` : text;
}

/** Writes a line to standard error, with its label in colour on a terminal. */
export function reportLine(text: string): void {
  report(`${colorLabel(text)}\n`);
}
