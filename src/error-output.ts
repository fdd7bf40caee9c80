// What is wrong and what to do about it, for a person: the two lines on standard error that every refusal of rt is.
import { oneLine } from "./printable.ts";
import { reportLine } from "./output.ts";

/** Whatever they quote, each stays one line. Returns the exit code. */
export function printError(message: string, hint?: string | readonly string[], status = 1): number {
  reportLine(`error: ${oneLine(message)}`);
  for (const line of hint ? [hint].flat() : []) reportLine(`hint: ${oneLine(line)}`);
  return status;
}
