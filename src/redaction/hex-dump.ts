// Decodes hex dumps: `<Buffer 53 33 ...>`, "53:33", "\x53\x33", "0x53, 0x33". Lines of xxd, od and hexdump also have an offset
// and a text column.
//
// Invariants:
// - The decoded bytes are searched for variants like any other text. The text column belongs to the same bytes.
// - The chunking of a stream makes no difference, because the filter holds the last line while it may continue.
import { trigramHash } from "./trigram.ts";
import type { SecretValue } from "./secret-value.ts";

/** Text between two bytes. */
const SEPARATORS = [" ", ":", "  ", ", ", "\\x", "%", ", 0x", " 0x"];

/** Makes the matcher's window stop at all trigrams that a dump of a value may contain; see pattern-matcher.ts. */
export function addDumpTrigrams(secrets: readonly SecretValue[], skips: Uint8Array, cells: Uint8Array): void {
  const enter = (first: number, second: number, third: number) => {
    const gram = trigramHash(first, second, third);
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

/** Consecutive characters of a dump. */
const MIN_RUN_LENGTH = 20;

const IS_PART = new Uint8Array(256);
for (const code of codesOf("0123456789abcdefABCDEF :,x\\%")) IS_PART[code] = 1;

/** Returns whether a position is in a dump, rather than in a time or a number. */
export function isDump(text: Uint8Array, at: number, length: number): boolean {
  if (IS_PART[text[at - 2]!]! + IS_PART[text[at - 1]!]! + IS_PART[text[at]!]! < 3) return false;
  let start = at;
  const least = at - MIN_RUN_LENGTH;
  while (start > 0 && start > least && IS_PART[text[start - 1]!] === 1) start -= 1;
  let end = at + 1;
  while (end < length && end - start < MIN_RUN_LENGTH && IS_PART[text[end]!] === 1) end += 1;
  return end - start >= MIN_RUN_LENGTH;
}

/** The bytes of a dump. Each array has one element per byte; positions are positions in the text. */
export interface Dump {
  readonly bytes: Uint8Array;
  /** Starts and ends of the byte's digits. */
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  /** Position of the byte's character in the text column, or -1. */
  readonly letters: readonly number[];
  /** Start of the byte's line. */
  readonly lines: readonly number[];
  /** Start of the byte's group with its prefix ("0x"); in a line with an offset, the start of the offset. */
  readonly groups: readonly number[];
  /** Position from which the byte is certain. */
  readonly certainFrom: readonly number[];
  /** Some groups have several bytes, whose order may be swapped. */
  readonly hasGroups: boolean;
  /** Start of the last line with an offset that may continue or be followed by another one, or -1. */
  readonly open: number;
  /** Number of certain bytes: the last group may continue. */
  readonly certain: number;
  /** Position of the first digit, or prefix, of an incomplete byte, or -1. */
  readonly half: number;
}

/** Offsets of xxd, and of od and hexdump. */
const OFFSET = /^(?:[0-9a-f]{6,16}: {1,2}|[0-9a-f]{6,16} {1,3}(?=[0-9a-f]{2}))/i;
/** A line that may become a line with an offset. */
const OFFSET_START = /^[0-9a-f]{1,16}:? {0,3}[0-9a-f]?$/i;
const CELL = /(?:0x|\\x|%)?((?:[0-9a-f]{2}){1,8})(?![0-9a-z])/gi;
const IN_WORD = /[0-9a-z]/i;
const CELL_END = /[0-9a-f]{2}$/i;
/** The first offset of a dump, or a prefix of it. */
const ZEROS = /^0{1,16}:? {0,3}[0-9a-f]?$/;
const OPEN_CELL = /(?:\\x?|%|(?<![0-9a-z])(?:0x?)?)[0-9a-f]{0,16}$/i;
/** Consecutive bytes. Fewer are a number in other text. */
const MIN_DUMP_BYTES = 4;

/**
 * Decodes the dumps in a text.
 * @param first start of a line
 * @param isSwapped the bytes of a group are in little-endian order, as in od -x
 * @param isFinal no text follows
 * @param before the character before the first line
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
  const certainFrom: number[] = [];
  const lists = [bytes, starts, ends, letters, lines, groups, certainFrom];
  let [open, half, certain] = [-1, -1, -1];
  let hasGroups = false;
  // The next byte continues the same dump.
  let isJoined = false;
  // Start of the previous line if it has an offset, else -1.
  let last = -1;
  for (let at = first; at < end;) {
    const newline = text.indexOf(NEWLINE, at);
    const isOpen = !isFinal && (newline < 0 || newline >= end);
    const lineEnd = newline < 0 || newline >= end ? end : newline;
    const line = latin(text, at, lineEnd);
    const offset = OFFSET.exec(line)?.[0] ?? "";
    if (isOpen && (offset || (last >= 0 && OFFSET_START.test(line)) || ZEROS.test(line))) {
      open = last >= 0 ? last : at;
      break;
    }
    const [cellsEnd, lettersStart] = splitLine(line, offset);
    if (isOpen) {
      const cell = OPEN_CELL.exec(line)?.[0] ?? "";
      if (cell !== "" && (cell.length % 2 === 1 || !CELL_END.test(cell))) half = lineEnd - cell.length;
    }
    let from = bytes.length;
    let runStart = from;
    let runEnd = offset.length;
    let isWhole = true;
    const dropShortRun = (isLineEnd: boolean) => {
      if (offset || bytes.length - runStart >= MIN_DUMP_BYTES || (isWhole && isLineEnd)) return;
      for (const list of lists) list.length = runStart;
    };
    for (const match of line.slice(0, cellsEnd).matchAll(CELL)) {
      const { 0: cell, 1: digits = "", index } = match;
      if (index < offset.length) continue;
      const digitsStart = index + cell.length - digits.length;
      if (digitsStart === index && IN_WORD.test(index > 0 ? line[index - 1]! : at === first ? before : ""))
        continue;
      if (!/^[ :,]{0,3}$/.test(line.slice(runEnd, index))) {
        dropShortRun(false);
        isWhole = line.slice(offset.length, index).trim() === "";
        if (!isWhole) isJoined = false;
        runStart = bytes.length;
      }
      if (!isJoined && bytes.length > 0) {
        // A separator byte: no value contains NUL.
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
        starts.push(at + digitsStart + digit);
        ends.push(at + digitsStart + digit + 2);
        letters.push(-1);
        lines.push(at);
        groups.push(offset ? at : at + index);
        certainFrom.push(offset ? lineEnd + 1 : at + runEnd);
      }
    }
    const isLineEnd = /^[\s,:\\]*$/.test(line.slice(runEnd));
    // A run at the end of an open line may continue.
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
  const all = { starts, ends, letters, lines, groups, certainFrom, hasGroups, open, certain, half };
  return { bytes: Uint8Array.from(bytes), ...all };
}

/** Returns the end of the cells, and the start of the text column (-1 if it is aligned to the end of the line). */
function splitLine(line: string, offset: string): [number, number] {
  if (!offset) return [line.length, -1];
  if (offset.includes(":")) {
    const gap = line.indexOf("  ", offset.length);
    return [gap < 0 ? line.length : gap, -1];
  }
  const bar = line.slice(offset.length).search(/ [|>]/);
  return bar < 0 ? [line.length, line.length] : [offset.length + bar, offset.length + bar + 2];
}

/**
 * Returns the start of a dump that may continue after the text, or -1.
 * @param maxLength characters of a dump of the longest value
 */
export function dumpBefore(text: Uint8Array, length: number, maxLength: number): number {
  const lineStart = text.lastIndexOf(NEWLINE, length - 1) + 1;
  let isDump = false;
  let isOffset = false;
  if (lineStart < length) {
    const last = text[length - 1]!;
    if (IS_PART[last] === 0 && IS_PART[text[lineStart]!] === 0) return -1;
    const line = latin(text, lineStart, Math.min(length, lineStart + MAX_OFFSET_LENGTH));
    isOffset = IS_PART[text[lineStart]!] === 1 && OFFSET_LINE.test(line);
    isDump =
      isOffset ||
      (IS_PART[last] === 1 &&
        TAIL.test(latin(text, Math.max(lineStart, length - MAX_OFFSET_LENGTH), length)));
    if (!isDump && !OFFSET_START.test(line) && line.trim() !== "") return -1;
  }
  const before = lineStart === 0 ? 0 : text.lastIndexOf(NEWLINE, lineStart - 2) + 1;
  const mayContinue =
    lineStart > 0 &&
    before < lineStart - 1 &&
    IS_PART[text[before]!] === 1 &&
    DUMP_LINE.test(latin(text, before, Math.min(lineStart - 1, before + MAX_TAIL_LENGTH)));
  if (mayContinue) return length > maxLength ? text.indexOf(NEWLINE, length - maxLength) + 1 : 0;
  if (!isDump) return -1;
  if (isOffset) return lineStart;
  // A dump on one line has no length limit besides that of the value.
  const least = Math.max(lineStart, length - maxLength);
  let start = length;
  while (start > least && IS_PART[text[start - 1]!] === 1) start -= 1;
  return start;
}

/** Characters of an offset and a byte, or of a group. */
const MAX_OFFSET_LENGTH = 24;
/** Characters of a line in a dump of several lines. */
const MAX_TAIL_LENGTH = 128;
const OFFSET_LINE = /^0{1,16}:? {0,3}[0-9a-f]?$|^[0-9a-f]{6,16}:? {1,3}[0-9a-f]/i;
const TAIL =
  /(?:^|[^0-9a-z]|(?=[\\%]))(?:(?:0x|\\x|%)?(?:[0-9a-f]{2}){1,8}(?:[ :,]{1,3}|(?=[\\%]))?(?:0x?|\\x?|%)?[0-9a-f]?|0x[0-9a-f]?|\\x[0-9a-f]?|[\\%][0-9a-f]?|[0-9a-f])$/i;
/** Groups of digits have a separator between them, so that a line has one reading: matching takes linear time. */
const DUMP_LINE =
  /^[0-9a-f]{6,16}(?:: {1,2}| {1,3})[0-9a-f]{2}|^\s*(?:0x|\\x|%)?[0-9a-f]{2,}(?:(?:[ :,]{1,3}(?:0x|\\x|%)?|0x|\\x|%)[0-9a-f]{2,})*[ :,\\]*$/i;

const NEWLINE = 0x0a;

function latin(text: Uint8Array, start: number, end: number): string {
  return Buffer.from(text.buffer, text.byteOffset + start, Math.max(0, end - start)).toString("latin1");
}
