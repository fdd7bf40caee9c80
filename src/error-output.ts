// Prints an error of rt and what to do about it: one line each, on standard error.
import { reportLine } from "./output.ts";
import { oneLine } from "./printable.ts";

/** Prints `error:` and `hint:` lines. Line breaks in quoted texts are escaped. Returns the exit code. */
export function printError(message: string, hint?: string | readonly string[], status = 1): number {
  reportLine(`error: ${oneLine(message)}`);
  for (const line of hint ? [hint].flat() : []) reportLine(`hint: ${oneLine(line)}`);
  return status;
}
