// One form of a value, and how it is compared with a text.
//
// Invariants:
// - The search takes linear time, also if value and text repeat themselves. The automaton of Knuth, Morris and Pratt follows
//   a long form through the text.
// - A form that programs wrap may have line breaks between its letters: "\n", "\r\n", and "\n" as two letters.
import type { Wrapping } from "./value-variants.ts";

export interface Pattern {
  readonly bytes: Uint8Array;
  readonly publicLength: number;
  /** The text that replaces the form. */
  readonly mark: Uint8Array;
  readonly wrapping: Wrapping | undefined;
  /** Bytes in a text, with line breaks. */
  readonly longest: number;
  /** Tables of the automaton, which `follow` makes. */
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

/** The size of the line break at a place; 0 if there is none, and -1 if the text ends within one. */
function breakAt(text: Uint8Array, at: number, length: number): number {
  const byte = text[at]!;
  if (byte === NEWLINE) return 1;
  if (byte !== RETURN && byte !== BACKSLASH) return 0;
  if (at + 1 === length) return -1;
  return text[at + 1] === (byte === RETURN ? NEWLINE : LETTER_N) ? 2 : 0;
}

export function longestInText(size: number, wrapping: Wrapping | undefined): number {
  return wrapping ? size + (size >> 2) + 8 : size;
}

/** How many bytes of the form are found at a place, one after the other; ends in the text at `place`. */
export interface Agreement {
  count: number;
  place: number;
}

/** The result is the same object in each call: this is called for most places in question. */
export function agreeFrom(
  { bytes, wrapping }: Pattern,
  text: Uint8Array,
  start: number,
  length: number,
): Agreement {
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
  agreement.count = count;
  agreement.place = place;
  return agreement;
}

const agreement: Agreement = { count: 0, place: 0 };

export type OnMatch = (start: number, end: number) => void;

/**
 * Follows the form from `start` on. Returns a place before which no further match begins. With `toEnd` it reads the whole text
 * and returns the place of the longest end of the text that begins the form.
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
  // Where the last letters were, in turn; without line breaks they are next to each other.
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

/** For each beginning of the form, how long its longest end is that is also a beginning. */
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
