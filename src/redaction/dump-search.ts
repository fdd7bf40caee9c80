// The search for values in the hex dumps of a text, and at its end for a dump that goes on.
import { dumpBefore, readDump } from "./hex-dump.ts";
import type { Match, VariantMatcher } from "./pattern-matcher.ts";

/** Part of a text that belongs to a value. */
export interface DumpRegion {
  readonly start: number;
  readonly end: number;
  readonly match: Match;
}

export interface DumpText {
  readonly text: Uint8Array;
  readonly length: number;
  /** The letter before the text. */
  readonly before: string;
}

/** Letters for a byte of a dump, with offsets, and in a line. */
const MOST_IN_DUMP = 6;
const MOST_IN_LINE = 512;

/**
 * Returns the regions of matches that were not certain at `seen`. It relies on the latest search of the same text.
 * @param isHeld the text begins within a dump
 * @param isFinal nothing follows the text
 */
export function findInDumps(
  patterns: VariantMatcher,
  { text, length, before }: DumpText,
  seen: number,
  isHeld: boolean,
  isFinal: boolean,
): DumpRegion[] {
  const firstDump = isHeld ? 0 : patterns.firstDump;
  const lastDump = isHeld ? Math.max(patterns.lastDump, seen) : patterns.lastDump;
  const regions: DumpRegion[] = [];
  if (firstDump < 0) return regions;
  const most = MOST_IN_DUMP * patterns.longestValue + MOST_IN_LINE;
  const first = text.lastIndexOf(NEWLINE, Math.max(0, firstDump - most)) + 1;
  const after = text.indexOf(NEWLINE, lastDump + most);
  const end = after < 0 || after >= length ? length : after + 1;
  const letter = letterBefore(text, first, before);
  for (const isSwapped of [false, true]) {
    const dump = readDump(text, first, end, isSwapped, isFinal && end === length, letter);
    const { bytes, starts, ends, letters, lines, known } = dump;
    for (const match of patterns.find(bytes, bytes.length, 0)) {
      if (!isFinal && known[match.end - 1]! <= seen) continue;
      for (let at = match.start; at < match.end;) {
        let next = at + 1;
        let [start, stop] = [starts[at]!, ends[at]!];
        // A line has one region for its digits, and one for its letters.
        while (next < match.end && lines[next] === lines[at]) {
          start = Math.min(start, starts[next]!);
          stop = Math.max(stop, ends[next]!);
          next += 1;
        }
        regions.push({ start, end: stop, match });
        const shown = letters[at]!;
        if (shown >= 0) regions.push({ start: shown, end: shown + next - at, match });
        at = next;
      }
    }
    bytes.fill(0);
    if (!dump.hasGroups) break;
  }
  return regions;
}

/** The end of a text that a dump may begin, or go on with. */
export interface OpenDump {
  readonly start: number;
  /** The place after two bytes of a value. */
  readonly publicEnd: number;
}

/** Returns undefined for most texts. */
export function findOpenDump(
  patterns: VariantMatcher,
  { text, length, before }: DumpText,
): OpenDump | undefined {
  if (patterns.isEmpty || length === 0) return undefined;
  const first = dumpBefore(text, length, MOST_IN_DUMP * patterns.longestValue + MOST_IN_LINE);
  if (first < 0) return undefined;
  let start = length;
  let publicEnd = length;
  const letter = letterBefore(text, first, before);
  for (const isSwapped of [false, true]) {
    const dump = readDump(text, first, length, isSwapped, false, letter);
    const { bytes, groups, ends, open, half, certain } = dump;
    for (const place of [open, half]) if (place >= 0) start = Math.min(start, place);
    for (const count of [certain, bytes.length]) {
      const begun = patterns.beginning(bytes, count, 0);
      if (begun >= count) continue;
      start = Math.min(start, groups[begun]!);
      publicEnd = Math.min(publicEnd, ends[Math.min(begun + 1, count - 1)]!);
    }
    bytes.fill(0);
    if (!dump.hasGroups) break;
  }
  return start < length ? { start, publicEnd } : undefined;
}

function letterBefore(text: Uint8Array, place: number, before: string): string {
  return place > 0 ? String.fromCharCode(text[place - 1]!) : before;
}

const NEWLINE = 0x0a;
