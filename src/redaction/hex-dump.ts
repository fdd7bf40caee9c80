// Values byte by byte in hexadecimal, as in `<Buffer 53 33 ...>`, "53:33", "\x53\x33" and "0x53, 0x33". The lines of xxd, od
// and hexdump also show offsets and text.
//
// Invariants:
// - A dump is decoded. Its bytes are a text in which forms are found as in any other.
// - The text at the end of a line with an offset belongs to the same bytes.
// - The cut of a stream makes no difference, because the filter holds the last line while it may go on.
import { gramOf } from "./trigram.ts";
import type { SecretValue } from "./secret-value.ts";

/** Text between two bytes. */
const SEPARATORS = [" ", ":", "  ", ", ", "\\x", "%", ", 0x", " 0x"];

/** Lets the window stop at all sequences of three letters that a dump of one of the values may have; see pattern-matcher.ts. */
export function enterCells(secrets: readonly SecretValue[], skips: Uint8Array, cells: Uint8Array): void {
  const enter = (first: number, second: number, third: number) => {
    const gram = gramOf(first, second, third);
    if (cells[gram] !== 0) return;
    cells[gram] = skips[gram]! + 1;
    skips[gram] = 0;
  };
  const used = new Uint8Array(256);
  for (const { value, isRedacted } of secrets)
    if (isRedacted) for (let at = 0; at < value.length; at += 1) used[value[at]!] = 1;
  for (const digits of ["0123456789abcdef", "0123456789ABCDEF"]) {
    const highs = new Set<number>();
    const lows = new Set<number>();
    const pairs: number[] = [];
    for (let byte = 0; byte < 256; byte += 1) {
      if (!used[byte]) continue;
      const high = digits.charCodeAt(byte >> 4);
      const low = digits.charCodeAt(byte & 15);
      highs.add(high);
      lows.add(low);
      pairs.push(high, low);
    }
    for (let each = 0; each < pairs.length; each += 2) {
      const [high, low] = [pairs[each]!, pairs[each + 1]!];
      for (const next of highs) enter(high, low, next);
      for (const last of lows) enter(last, high, low);
    }
    for (const separator of SEPARATORS) {
      const first = separator.charCodeAt(0);
      const last = separator.charCodeAt(separator.length - 1);
      for (let each = 0; each < pairs.length; each += 2) {
        enter(pairs[each]!, pairs[each + 1]!, first);
        enter(last, pairs[each]!, pairs[each + 1]!);
      }
      if (separator.length === 1) {
        for (const low of lows) for (const high of highs) enter(low, first, high);
        continue;
      }
      for (const low of lows) enter(low, first, separator.charCodeAt(1));
      for (const high of highs) enter(separator.charCodeAt(separator.length - 2), last, high);
      for (let at = 0; at + 2 < separator.length; at += 1)
        enter(separator.charCodeAt(at), separator.charCodeAt(at + 1), separator.charCodeAt(at + 2));
    }
  }
}

function codesOf(text: string): number[] {
  return [...text].map((letter) => letter.charCodeAt(0));
}

/** Letters of a dump in a row. */
const SHORTEST_RUN = 20;

const IS_PART = new Uint8Array(256);
for (const code of codesOf("0123456789abcdefABCDEF :,x\\%")) IS_PART[code] = 1;

/** Whether a place is in a dump; most that look like it are a time or a number. */
export function isDump(text: Uint8Array, at: number, length: number): boolean {
  if (IS_PART[text[at - 2]!]! + IS_PART[text[at - 1]!]! + IS_PART[text[at]!]! < 3) return false;
  let start = at;
  const least = at - SHORTEST_RUN;
  while (start > 0 && start > least && IS_PART[text[start - 1]!] === 1) start -= 1;
  let end = at + 1;
  while (end < length && end - start < SHORTEST_RUN && IS_PART[text[end]!] === 1) end += 1;
  return end - start >= SHORTEST_RUN;
}

/** The bytes of a dump, in order; each array has an element for each byte. */
export interface Dump {
  readonly bytes: Uint8Array;
  /** Where its digits are in the text. */
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  /** Where its letter is in the text at the end of the line; -1 where there is none. */
  readonly letters: readonly number[];
  /** Where its line begins. */
  readonly lines: readonly number[];
  /** Where its group begins, with what stands in front of the digits; in a line with an offset, where that begins. */
  readonly groups: readonly number[];
  /** From where on in the text it was certain what the byte is. */
  readonly known: readonly number[];
  /** Some groups have several bytes, which may be in the opposite order. */
  readonly hasGroups: boolean;
  /** Where the last line with an offset is that may go on, or have another one behind it; -1 where there is none. */
  readonly open: number;
  /** How many bytes are certain, whatever follows: the last group may go on. */
  readonly certain: number;
  /** Where a letter is that is the first half of a byte, or stands in front of one; -1 where there is none. */
  readonly half: number;
}

/** Of xxd; of od and hexdump. */
const OFFSET = /^(?:[0-9a-f]{6,16}: {1,2}|[0-9a-f]{6,16} {1,3}(?=[0-9a-f]{2}))/i;
/** Of which a line with an offset may have the beginning. */
const OFFSET_START = /^[0-9a-f]{1,16}:? {0,3}[0-9a-f]?$/i;
const CELL = /(?:0x|\\x|%)?((?:[0-9a-f]{2}){1,8})(?![0-9a-z])/gi;
const IN_WORD = /[0-9a-z]/i;
const CELL_END = /[0-9a-f]{2}$/i;
/** The first offset of a dump, or a part of it. */
const ZEROS = /^0{1,16}:? {0,3}[0-9a-f]?$/;
const OPEN_CELL = /(?:\\x?|%|(?<![0-9a-z])(?:0x?)?)[0-9a-f]{0,16}$/i;
/** Bytes in a row that are a dump and no number in other text. */
const SHORTEST_DUMP = 4;

/**
 * @param first where a line begins
 * @param isSwapped the bytes of a group are in the opposite order, as in od -x
 * @param isFinal nothing follows the end
 * @param before the letter in front of the first line
 */
export function readDump(
  text: Uint8Array,
  first: number,
  end: number,
  isSwapped: boolean,
  isFinal: boolean,
  before: string,
): Dump {
  const bytes: number[] = [];
  const starts: number[] = [];
  const ends: number[] = [];
  const letters: number[] = [];
  const lines: number[] = [];
  const groups: number[] = [];
  const known: number[] = [];
  const lists = [bytes, starts, ends, letters, lines, groups, known];
  let [open, half, certain] = [-1, -1, -1];
  let hasGroups = false;
  // The next byte follows the one before.
  let isJoined = false;
  // The line with an offset that the next one belongs to.
  let last = -1;
  for (let at = first; at < end;) {
    const found = text.indexOf(NEWLINE, at);
    const isOpen = !isFinal && (found < 0 || found >= end);
    const lineEnd = found < 0 || found >= end ? end : found;
    const line = latin(text, at, lineEnd);
    const offset = OFFSET.exec(line)?.[0] ?? "";
    if (isOpen && (offset || (last >= 0 && OFFSET_START.test(line)) || ZEROS.test(line))) {
      open = last >= 0 ? last : at;
      break;
    }
    const [cellsEnd, lettersStart] = partLine(line, offset);
    if (isOpen) {
      const cell = OPEN_CELL.exec(line)?.[0] ?? "";
      if (cell !== "" && (cell.length % 2 === 1 || !CELL_END.test(cell))) half = lineEnd - cell.length;
    }
    let from = bytes.length;
    let runStart = from;
    let runEnd = offset.length;
    let isWhole = true;
    const dropShortRun = (isLineEnd: boolean) => {
      if (offset || bytes.length - runStart >= SHORTEST_DUMP || (isWhole && isLineEnd)) return;
      for (const list of lists) list.length = runStart;
    };
    for (const match of line.slice(0, cellsEnd).matchAll(CELL)) {
      const { 0: cell, 1: digits = "", index } = match;
      if (index < offset.length) continue;
      const place = index + cell.length - digits.length;
      if (place === index && IN_WORD.test(index > 0 ? line[index - 1]! : at === first ? before : ""))
        continue;
      if (!/^[ :,]{0,3}$/.test(line.slice(runEnd, index))) {
        dropShortRun(false);
        isWhole = line.slice(offset.length, index).trim() === "";
        if (!isWhole) isJoined = false;
        runStart = bytes.length;
      }
      if (!isJoined && bytes.length > 0) {
        // No value has this byte.
        for (const list of lists) list.push(list === bytes ? 0 : at + index);
        if (from === runStart) from += 1;
        runStart += 1;
      }
      isJoined = true;
      runEnd = index + cell.length;
      const size = digits.length / 2;
      hasGroups ||= size > 1;
      if (isOpen && at + runEnd === lineEnd) certain = bytes.length;
      for (let each = 0; each < size; each += 1) {
        const digit = 2 * (isSwapped ? size - 1 - each : each);
        bytes.push(Number.parseInt(digits.slice(digit, digit + 2), 16));
        starts.push(at + place + digit);
        ends.push(at + place + digit + 2);
        letters.push(-1);
        lines.push(at);
        groups.push(offset ? at : at + index);
        known.push(offset ? lineEnd + 1 : at + runEnd);
      }
    }
    const isLineEnd = /^[\s,:\\]*$/.test(line.slice(runEnd));
    // Where the line goes on, so may the run.
    dropShortRun(isOpen || isLineEnd);
    isJoined = bytes.length > from && (offset !== "" || isLineEnd);
    last = offset && bytes.length > from ? at : -1;
    const start = lettersStart >= 0 ? lettersStart : line.length - (bytes.length - from);
    if (offset && start > runEnd)
      for (let each = from; each < bytes.length && start + each - from < line.length; each += 1)
        letters[each] = at + start + each - from;
    at = lineEnd + 1;
  }
  if (open < 0 && !isFinal) open = last;
  if (certain < 0) certain = bytes.length;
  const all = { starts, ends, letters, lines, groups, known, hasGroups, open, certain, half };
  return { bytes: Uint8Array.from(bytes), ...all };
}

/** Where the cells of a line end, and where its text begins; -1 if that is at the end of the line. */
function partLine(line: string, offset: string): [number, number] {
  if (!offset) return [line.length, -1];
  if (offset.includes(":")) {
    const gap = line.indexOf("  ", offset.length);
    return [gap < 0 ? line.length : gap, -1];
  }
  const bar = line.slice(offset.length).search(/ [|>]/);
  return bar < 0 ? [line.length, line.length] : [offset.length + bar, offset.length + bar + 2];
}

/**
 * Returns where a dump begins that may go on at the end of a text, or -1.
 * @param most letters that a dump of the longest value may have
 */
export function dumpBefore(text: Uint8Array, length: number, most: number): number {
  const lineStart = text.lastIndexOf(NEWLINE, length - 1) + 1;
  let isDump = false;
  let isOffset = false;
  if (lineStart < length) {
    const last = text[length - 1]!;
    if (IS_PART[last] === 0 && IS_PART[text[lineStart]!] === 0) return -1;
    const line = latin(text, lineStart, Math.min(length, lineStart + LONGEST_OFFSET));
    isOffset = IS_PART[text[lineStart]!] === 1 && OFFSET_LINE.test(line);
    isDump =
      isOffset ||
      (IS_PART[last] === 1 && TAIL.test(latin(text, Math.max(lineStart, length - LONGEST_OFFSET), length)));
    if (!isDump && !OFFSET_START.test(line) && line.trim() !== "") return -1;
  }
  const before = lineStart === 0 ? 0 : text.lastIndexOf(NEWLINE, lineStart - 2) + 1;
  const goesOn =
    lineStart > 0 &&
    before < lineStart - 1 &&
    IS_PART[text[before]!] === 1 &&
    DUMP_LINE.test(latin(text, before, Math.min(lineStart - 1, before + LONGEST_TAIL)));
  if (goesOn) return length > most ? text.indexOf(NEWLINE, length - most) + 1 : 0;
  if (!isDump) return -1;
  if (isOffset) return lineStart;
  // A dump in one line may be as long as the value makes it.
  const least = Math.max(lineStart, length - most);
  let start = length;
  while (start > least && IS_PART[text[start - 1]!] === 1) start -= 1;
  return start;
}

/** Letters: an offset and a byte. A group has no more. */
const LONGEST_OFFSET = 24;
/** Letters. A dump has no longer lines, but where it has a single one. */
const LONGEST_TAIL = 128;
const OFFSET_LINE = /^0{1,16}:? {0,3}[0-9a-f]?$|^[0-9a-f]{6,16}:? {1,3}[0-9a-f]/i;
const TAIL =
  /(?:^|[^0-9a-z]|(?=[\\%]))(?:(?:0x|\\x|%)?(?:[0-9a-f]{2}){1,8}(?:[ :,]{1,3}|(?=[\\%]))?(?:0x?|\\x?|%)?[0-9a-f]?|0x[0-9a-f]?|\\x[0-9a-f]?|[\\%][0-9a-f]?|[0-9a-f])$/i;
const DUMP_LINE =
  /^[0-9a-f]{6,16}(?:: {1,2}| {1,3})[0-9a-f]{2}|^\s*(?:0x|\\x|%)?[0-9a-f]{2,16}(?:[ :,]{0,3}(?:0x|\\x|%)?[0-9a-f]{2,16})*[ :,\\]*$/i;

const NEWLINE = 0x0a;

function latin(text: Uint8Array, start: number, end: number): string {
  return Buffer.from(text.buffer, text.byteOffset + start, Math.max(0, end - start)).toString("latin1");
}
