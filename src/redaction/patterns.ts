// All forms of all values of a script, ready to be found: a table that says for any three bytes how far the search may
// skip (Wu and Manber's way), and by what a form begins.
//
// Contract: finds every occurrence, overlapping ones too, and tells of the end of a text whether a form may begin there.
// Where two values have the same form, the first has its name. `zero` zeroes all that is made of values.
//
// Surprising: it is made by two long functions, for the reason that encodings.ts has.
import { oneLine } from "../printable.ts";
import { formsOf } from "./forms.ts";
import type { SecretValue } from "./secret-value.ts";

const GRAM = 3; // bytes
const NONE: readonly Pattern[] = [];

export interface Pattern {
  readonly bytes: Uint8Array;
  readonly publicLength: number;
  /** What is shown in its place. */
  readonly mark: Uint8Array;
}

export interface Match {
  readonly start: number;
  readonly end: number;
  readonly pattern: Pattern;
}

export class Patterns {
  /** Bytes, of the longest one; 0 where there is none. */
  readonly longest: number = 0;
  readonly #all: Pattern[] = [];
  /** What all have at least. */
  readonly #window: number = 0;
  /** By three bytes, how far the window may move on. */
  readonly #skips = new Uint8Array(1 << 16);
  /** Those whose window ends with these three bytes. */
  readonly #byEnd = new Map<number, Pattern[]>();
  readonly #isFirst = new Uint8Array(1 << 8);
  /** By their first two bytes. */
  readonly #byStart = new Map<number, Pattern[]>();

  /** Those that may be shown are left out. */
  constructor(secrets: readonly SecretValue[]) {
    let shortest = LONGEST_SKIP + GRAM - 1;
    for (const { name, value, isRedacted } of secrets) {
      if (!isRedacted) continue;
      const mark = new TextEncoder().encode(`[${oneLine(name)}]`);
      for (const { bytes, publicLength } of formsOf(value)) {
        const start = (bytes[0]! << 8) | bytes[1]!;
        let alike = this.#byStart.get(start);
        if (!alike) this.#byStart.set(start, (alike = []));
        let isKnown = false;
        for (const other of alike) isKnown ||= Buffer.compare(other.bytes, bytes) === 0;
        if (isKnown) {
          bytes.fill(0);
          continue;
        }
        const pattern = { bytes, publicLength, mark };
        alike.push(pattern);
        this.#all.push(pattern);
        this.#isFirst[bytes[0]!] = 1;
        if (bytes.length > this.longest) this.longest = bytes.length;
        if (bytes.length < shortest) shortest = bytes.length;
      }
    }
    if (this.isEmpty) return;
    this.#window = shortest;
    this.#skips.fill(this.#window - GRAM + 1);
    this.#enterAll();
  }

  get isEmpty(): boolean {
    return this.#all.length === 0;
  }

  #enterAll(): void {
    const skips = this.#skips;
    const last = this.#window - GRAM;
    for (const pattern of this.#all) {
      const { bytes } = pattern;
      let gram = 0;
      for (let at = 0; at <= last; at += 1) {
        // As `gramOf`.
        gram = Math.imul((bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!, FACTOR) >>> 16;
        if (skips[gram]! > last - at) skips[gram] = last - at;
      }
      const alike = this.#byEnd.get(gram);
      if (alike) alike.push(pattern);
      else this.#byEnd.set(gram, [pattern]);
    }
  }

  /** All that end behind `seen`, in no order. */
  find(text: Uint8Array, length: number, seen: number): Match[] {
    const matches: Match[] = [];
    if (this.isEmpty) return matches;
    const skips = this.#skips;
    // Two windows move at once, since each of their steps has to wait for what the table says.
    let near = this.#window - 1;
    const middle = Math.max(near, length >> 1);
    let far = middle;
    while (near < middle && far < length) {
      const skip = skips[gramOf(text[near - 2]!, text[near - 1]!, text[near]!)]!;
      const farSkip = skips[gramOf(text[far - 2]!, text[far - 1]!, text[far]!)]!;
      if (skip === 0) this.#compare(text, near, length, seen, matches);
      if (farSkip === 0) this.#compare(text, far, length, seen, matches);
      near += skip || 1;
      far += farSkip || 1;
    }
    const [from, to] = near < middle ? [near, middle] : [far, length];
    for (let at = from; at < to;) {
      const skip = skips[gramOf(text[at - 2]!, text[at - 1]!, text[at]!)]!;
      if (skip === 0) this.#compare(text, at, length, seen, matches);
      at += skip || 1;
    }
    return matches;
  }

  /** With the forms whose window may end there. */
  #compare(text: Uint8Array, at: number, length: number, seen: number, matches: Match[]): void {
    const start = at - this.#window + 1;
    for (const pattern of this.#byEnd.get(gramOf(text[at - 2]!, text[at - 1]!, text[at]!)) ?? []) {
      const end = start + pattern.bytes.length;
      if (end <= length && end > seen && agrees(text, start, pattern.bytes, pattern.bytes.length))
        matches.push({ start, end, pattern });
    }
  }

  /** Where the longest end of the text stands that begins a form and is not all of it, from `from` on; or the end. */
  beginning(text: Uint8Array, length: number, from: number): number {
    const last = length - 1;
    for (let start = Math.max(from, length - this.longest + 1); start < last; start += 1) {
      if (this.#isFirst[text[start]!] === 1 && this.#begun(text, length, start).length > 0) return start;
    }
    return last >= from && this.#isFirst[text[last]!] === 1 ? last : length;
  }

  /** How far a text may be shown of which each end may begin a form. */
  publicEnd(text: Uint8Array, length: number): number {
    let end = length;
    for (let start = Math.max(0, length - this.longest + 1); start < length; start += 1)
      for (const { publicLength } of this.#begun(text, length, start))
        end = Math.min(end, start + publicLength);
    return end;
  }

  /** Those that begin with the text from `start` on, and go on. */
  #begun(text: Uint8Array, length: number, start: number): readonly Pattern[] {
    const count = length - start;
    if (count === 1) return this.#all.filter(({ bytes }) => bytes[0] === text[start]);
    const alike = this.#byStart.get((text[start]! << 8) | text[start + 1]!);
    if (!alike) return NONE;
    return alike.filter(({ bytes }) => bytes.length > count && agrees(text, start, bytes, count));
  }

  /** Nothing is found any more. */
  zero(): void {
    for (const { bytes } of this.#all) bytes.fill(0);
    this.#all.length = 0;
    this.#byStart.clear();
    this.#byEnd.clear();
    this.#isFirst.fill(0);
    this.#skips.fill(Math.max(1, this.#window - GRAM + 1));
  }
}

/** What a byte of the table holds. */
const LONGEST_SKIP = 255;

const FACTOR = 0x9e3779b1;

/** Different ones may be the same number: it is compared what is found. */
function gramOf(first: number, second: number, third: number): number {
  return Math.imul((first << 16) | (second << 8) | third, FACTOR) >>> 16;
}

function agrees(text: Uint8Array, start: number, bytes: Uint8Array, length: number): boolean {
  for (let at = 0; at < length; at += 1) if (text[start + at] !== bytes[at]) return false;
  return true;
}
