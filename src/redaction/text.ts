// A text of rt's own in which no value is to be seen, such as the line of a command.
import { RedactionFilter } from "./filter.ts";
import { VariantMatcher } from "./pattern-matcher.ts";
import type { SecretValue } from "./secret-value.ts";

/** @param hasArguments the user has added something, which may have a value in any form */
export type Hide = (text: string, hasArguments: boolean) => string;

/** Puts names in place of values. */
export function hideValues(text: string, secrets: readonly SecretValue[], hasArguments: boolean): string {
  if (!hasArguments && !mayShow(text, secrets)) return text;
  const patterns = new VariantMatcher(secrets);
  const filter = new RedactionFilter(patterns);
  const parts = [...filter.push(new TextEncoder().encode(text)), filter.end()];
  patterns.zero();
  return new TextDecoder().decode(Buffer.concat(parts));
}

/**
 * Whether a text may have one of the values as a printer writes it: few have, and the patterns take a while. All printers
 * leave letters and digits unchanged, so that the longest row of them in each line decides.
 */
function mayShow(text: string, secrets: readonly SecretValue[]): boolean {
  const bytes = Buffer.from(text);
  return secrets.some(
    ({ value, isRedacted }) => isRedacted && rowsOf(value).some((row) => bytes.includes(row)),
  );
}

/** Of each line, its longest row of letters and digits. */
function rowsOf(value: Uint8Array): Uint8Array[] {
  const rows: Uint8Array[] = [];
  let row = value.subarray(0, 0);
  let from = 0;
  let lineStart = 0;
  for (let at = 0; at <= value.length; at += 1) {
    if (at < value.length && isLetter(value[at]!)) continue;
    if (at - from > row.length) row = value.subarray(from, at);
    from = at + 1;
    if (at < value.length && value[at] !== NEWLINE) continue;
    if (at > lineStart) rows.push(row);
    row = value.subarray(0, 0);
    lineStart = at + 1;
  }
  return rows;
}

const NEWLINE = 0x0a;

function isLetter(byte: number): boolean {
  const letter = byte | 0x20;
  return (letter >= 0x61 && letter <= 0x7a) || (byte >= 0x30 && byte <= 0x39);
}
