// Redacts a single text of rt, such as a command line in a report.
import { RedactionFilter } from "./filter.ts";
import { VariantMatcher } from "./pattern-matcher.ts";
import type { SecretValue } from "./secret-value.ts";

/** @param hasArguments the user added arguments, which may contain any variant of a value */
export type Hide = (text: string, hasArguments: boolean) => string;

/** Replaces values by their names. */
export function hideValues(text: string, secrets: readonly SecretValue[], hasArguments: boolean): string {
  if (!hasArguments && !mayContainValue(text, secrets)) return text;
  const patterns = new VariantMatcher(secrets);
  const filter = new RedactionFilter(patterns);
  const parts = [...filter.push(new TextEncoder().encode(text)), filter.end()];
  patterns.zero();
  return new TextDecoder().decode(Buffer.concat(parts));
}

/**
 * Returns whether a text may contain a quoted variant of a value. This cheap check avoids building the matcher for most
 * texts. All printers leave letters and digits unchanged, so the longest run of them in each line decides.
 */
function mayContainValue(text: string, secrets: readonly SecretValue[]): boolean {
  const bytes = Buffer.from(text);
  return secrets.some(
    ({ value, isRedacted }) => isRedacted && longestRuns(value).some((run) => bytes.includes(run)),
  );
}

/** Returns the longest run of letters and digits of each line. */
function longestRuns(value: Uint8Array): Uint8Array[] {
  const runs: Uint8Array[] = [];
  let run = value.subarray(0, 0);
  let from = 0;
  let lineStart = 0;
  for (let at = 0; at <= value.length; at += 1) {
    if (at < value.length && isLetter(value[at]!)) continue;
    if (at - from > run.length) run = value.subarray(from, at);
    from = at + 1;
    if (at < value.length && value[at] !== NEWLINE) continue;
    if (at > lineStart) runs.push(run);
    run = value.subarray(0, 0);
    lineStart = at + 1;
  }
  return runs;
}

const NEWLINE = 0x0a;

function isLetter(byte: number): boolean {
  const letter = byte | 0x20;
  return (letter >= 0x61 && letter <= 0x7a) || (byte >= 0x30 && byte <= 0x39);
}
