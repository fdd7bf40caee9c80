// Writes rt's own text: answers to standard output, messages to standard error.
//
// Invariants:
// - The bytes go to the descriptor's position. Other programs that append to the same file move it.
// - All bytes are written once, also to a pipe that does not block.
//
// Non-obvious: `Bun.write(Bun.stdout)` writes to a file at an offset of its own, and repeats bytes that a full pipe has taken.
import { host } from "../platform/processes/process.ts";
import { outputs } from "../platform/terminal/output.ts";
import { wantsColor } from "./color.ts";
import { UserError } from "./user-error.ts";

const PATIENCE = 1000; // ms until the descriptor is tried again

const encoder = new TextEncoder();

/** @throws the system's error, with its `code` */
export function writeOwn(descriptor: 1 | 2, data: string | Uint8Array): void {
  const bytes = typeof data === "string" ? encoder.encode(data) : data;
  for (let start = 0; start < bytes.length;) {
    const count = outputs.writeSome(descriptor, bytes.subarray(start));
    if (count === 0) outputs.awaitWritable(descriptor, PATIENCE);
    start += count;
  }
}

/**
 * Prints a line to standard output. A reader that has gone needs no more.
 * @throws Failure
 */
export function printLine(text: string): void {
  try {
    writeOwn(1, `${text}\n`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EPIPE") throw new UserError(`Standard output could not be written (${code})`);
  }
}

/** Writes text to standard error. A failure is ignored: there is no other place to report it. */
export function report(text: string): void {
  try {
    writeOwn(2, text);
  } catch {
    // See above.
  }
}

/** Colours of the labels that a message begins with, on a terminal. */
const LABELS: Readonly<Record<string, number>> = { error: 31, warning: 33, hint: 36 };

/** Writes a line to standard error, with its label in colour on a terminal. */
export function reportLine(text: string): void {
  const [label = ""] = text.split(":", 1);
  const color = LABELS[label];
  const useColor = color !== undefined && wantsColor(host.originalVariable, () => host.isTerminal(2));
  report(useColor ? `\x1b[${color}m${label}:\x1b[39m${text.slice(label.length + 1)}\n` : `${text}\n`);
}
