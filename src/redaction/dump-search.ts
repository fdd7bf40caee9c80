// Searches hex dumps in a text for values, and finds a dump at the end of the text that may continue.
import { dumpBefore, readDump } from "./hex-dump.ts";
import type { Match, VariantMatcher } from "./pattern-matcher.ts";

/** A part of the text that belongs to a value. */
export interface DumpRegion {
  readonly start: number;
  readonly end: number;
  readonly match: Match;
}

export interface DumpText {
  readonly text: Uint8Array;
  readonly length: number;
  /** The character before the text; "" at the start of the stream. */
  readonly before: string;
}

/** Characters for one byte of a dump, including its share of offsets. */
const MAX_CHARACTERS_PER_BYTE = 6;
/** Characters. */
const MAX_LINE_LENGTH = 512;

/**
 * Returns the regions of matches that end after `searched`. It uses the dump positions of the latest search of this text.
 * @param searched length of the prefix that an earlier call covered
 * @param isHeld the text begins within a dump
 * @param isFinal no text follows
 */
export function findInDumps(
  patterns: VariantMatcher,
  { text, length, before }: DumpText,
  searched: number,
  isHeld: boolean,
  isFinal: boolean,
): DumpRegion[] {
  const firstDump = isHeld ? 0 : patterns.firstDump;
  const lastDump = isHeld ? Math.max(patterns.lastDump, searched) : patterns.lastDump;
  const regions: DumpRegion[] = [];
  if (firstDump < 0) return regions;
  const maxLength = MAX_CHARACTERS_PER_BYTE * patterns.longestValue + MAX_LINE_LENGTH;
  const first = text.lastIndexOf(NEWLINE, Math.max(0, firstDump - maxLength)) + 1;
  const after = text.indexOf(NEWLINE, lastDump + maxLength);
  const end = after < 0 || after >= length ? length : after + 1;
  const letter = characterBefore(text, first, before);
  for (const isSwapped of [false, true]) {
    const dump = readDump(text, first, end, isSwapped, isFinal && end === length, letter);
    const { bytes, starts, ends, letters, lines, certainFrom } = dump;
    for (const match of patterns.find(bytes, bytes.length, 0)) {
      if (!isFinal && certainFrom[match.end - 1]! <= searched) continue;
      for (let at = match.start; at < match.end;) {
        let next = at + 1;
        let [start, stop] = [starts[at]!, ends[at]!];
        // A line has one region for its digits, and one for its text column.
        while (next < match.end && lines[next] === lines[at]) {
          start = Math.min(start, starts[next]!);
          stop = Math.max(stop, ends[next]!);
          next += 1;
        }
        regions.push({ start, end: stop, match });
        const letterStart = letters[at]!;
        if (letterStart >= 0) regions.push({ start: letterStart, end: letterStart + next - at, match });
        at = next;
      }
    }
    bytes.fill(0);
    if (!dump.hasGroups) break;
  }
  return regions;
}

/** A dump at the end of a text that may continue in the next bytes. */
export interface OpenDump {
  readonly start: number;
  /** Position up to which the text may be shown: it contains at most two bytes of a value. */
  readonly publicEnd: number;
}

/** Returns undefined if no dump may continue, which is the common case. */
export function findOpenDump(
  patterns: VariantMatcher,
  { text, length, before }: DumpText,
): OpenDump | undefined {
  if (patterns.isEmpty || length === 0) return undefined;
  const first = dumpBefore(text, length, MAX_CHARACTERS_PER_BYTE * patterns.longestValue + MAX_LINE_LENGTH);
  if (first < 0) return undefined;
  let start = length;
  let publicEnd = length;
  const letter = characterBefore(text, first, before);
  for (const isSwapped of [false, true]) {
    const dump = readDump(text, first, length, isSwapped, false, letter);
    const { bytes, groups, ends, open, half, certain } = dump;
    for (const position of [open, half]) if (position >= 0) start = Math.min(start, position);
    for (const count of [certain, bytes.length]) {
      const variantStart = patterns.beginning(bytes, count, 0);
      if (variantStart >= count) continue;
      start = Math.min(start, groups[variantStart]!);
      publicEnd = Math.min(publicEnd, ends[Math.min(variantStart + 1, count - 1)]!);
    }
    bytes.fill(0);
    if (!dump.hasGroups) break;
  }
  return start < length ? { start, publicEnd } : undefined;
}

function characterBefore(text: Uint8Array, position: number, before: string): string {
  return position > 0 ? String.fromCharCode(text[position - 1]!) : before;
}

const NEWLINE = 0x0a;
