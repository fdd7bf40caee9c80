// Prints an error for the user: a line `error: ...` and lines `hint: ...` on standard error.
import { reportLine } from "./output.ts";
import { oneLine } from "./printable.ts";

/** Prints each text as one line with control characters escaped. Returns the exit code. */
export function printError(message: string, hint?: string | readonly string[], status = 1): number {
  reportLine(`error: ${oneLine(message)}`);
  for (const line of hint ? [hint].flat() : []) reportLine(`hint: ${oneLine(line)}`);
  return status;
}
