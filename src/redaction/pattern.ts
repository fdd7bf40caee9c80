// Compares one variant of a value with a text.
//
// Invariants:
// - The search takes linear time, even if value and text are repetitive: long variants use a Knuth-Morris-Pratt automaton.
// - A variant that programs wrap may contain line breaks: "\n", "\r\n", and the two characters backslash and "n".
import type { Wrapping } from "./value-variants.ts";

export interface Pattern {
  readonly bytes: Uint8Array;
  readonly publicLength: number;
  /** The text that replaces the variant. */
  readonly mark: Uint8Array;
  readonly wrapping: Wrapping | undefined;
  /** Maximum bytes in a text, including line breaks. */
  readonly longest: number;
  /** Tables of the automaton, which `follow` creates on demand. */
  failures?: Int32Array;
  places?: Int32Array;
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const BACKSLASH = 0x5c;
const LETTER_N = 0x6e;

/** Line breaks within an encoded value. */
export const LINE_BREAKS: readonly (readonly number[])[] = [
  [NEWLINE],
  [RETURN, NEWLINE],
  [BACKSLASH, LETTER_N],
];

/** Returns the size of the line break at a position, 0 if there is none, -1 if the text ends within one. */
function breakAt(text: Uint8Array, at: number, length: number): number {
  const byte = text[at]!;
  if (byte === NEWLINE) return 1;
  if (byte !== RETURN && byte !== BACKSLASH) return 0;
  if (at + 1 === length) return -1;
  return text[at + 1] === (byte === RETURN ? NEWLINE : LETTER_N) ? 2 : 0;
}

export function maxLengthInText(size: number, wrapping: Wrapping | undefined): number {
  return wrapping ? size + (size >> 2) + 8 : size;
}

/** The number of matching bytes, and the position in the text after them. */
export interface PrefixMatch {
  count: number;
  place: number;
}

/** Compares a variant at a position. Every call returns the same object, because this is called for most candidates. */
export function matchPrefix(
  { bytes, wrapping }: Pattern,
  text: Uint8Array,
  start: number,
  length: number,
): PrefixMatch {
  let count = 0;
  let place = start;
  while (count < bytes.length && place < length) {
    if (text[place] === bytes[count]) {
      count += 1;
      place += 1;
      continue;
    }
    const size = wrapping && count > 0 ? breakAt(text, place, length) : 0;
    if (size === 0) break;
    place = size < 0 ? length : place + size;
  }
  prefixMatch.count = count;
  prefixMatch.place = place;
  return prefixMatch;
}

const prefixMatch: PrefixMatch = { count: 0, place: 0 };

export type OnMatch = (start: number, end: number) => void;

/**
 * Runs the automaton from `start` on. Returns a position before which no further match begins. With `toEnd` it reads the
 * whole text and returns the start of the longest suffix that is a prefix of the variant.
 */
export function follow(
  pattern: Pattern,
  text: Uint8Array,
  start: number,
  length: number,
  toEnd: boolean,
  onMatch?: OnMatch,
): number {
  const { bytes, wrapping, longest } = pattern;
  const size = bytes.length;
  const failures = (pattern.failures ??= failuresOf(bytes));
  // Ring buffer of the positions of the last matched bytes. Without line breaks they are consecutive.
  const places = wrapping && (pattern.places ??= new Int32Array(size));
  let state = 0;
  let count = 0;
  let at = start;
  while (at < length) {
    const byte = text[at]!;
    if (wrapping && state > 0 && byte !== bytes[state]) {
      const width = breakAt(text, at, length);
      if (width !== 0) {
        at = width < 0 ? length : at + width;
        continue;
      }
    }
    while (state > 0 && byte !== bytes[state]) state = failures[state - 1]!;
    if (byte === bytes[state]) {
      if (places) places[count % size] = at;
      count += 1;
      state += 1;
    } else if (!toEnd) return at + 1;
    at += 1;
    if (state === size) {
      const from = places ? places[count % size]! : at - size;
      if (at - from <= longest) onMatch?.(from, at);
      state = failures[size - 1]!;
    }
  }
  if (!toEnd) return length;
  if (state === 0) return length;
  return places ? places[(count - state) % size]! : length - state;
}

/** Returns, for each prefix, the length of its longest proper suffix that is also a prefix (failure function). */
function failuresOf(bytes: Uint8Array): Int32Array {
  const failures = new Int32Array(bytes.length);
  let state = 0;
  for (let at = 1; at < bytes.length; at += 1) {
    while (state > 0 && bytes[at] !== bytes[state]) state = failures[state - 1]!;
    if (bytes[at] === bytes[state]) state += 1;
    failures[at] = state;
  }
  return failures;
}
