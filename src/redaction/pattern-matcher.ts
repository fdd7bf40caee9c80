// All forms of all values of a script, ready to be found: a table that says for any three bytes how far the search may
// skip (Wu and Manber's way), and by what a form begins.
//
// Contract: finds every occurrence, overlapping ones too, and tells of the end of a text whether a form may begin there.
// Where two values have the same form, the first has its name. `zero` zeroes all that is made of values.
//
// Non-obvious: few long functions make it, for the reason that encodings.ts has.
import { oneLine } from "../printable.ts";
import { variantsOf } from "./value-variants.ts";
import { gramOf } from "./trigram.ts";
import { enterCells, isDump } from "./hex-dump.ts";
import { agreeFrom, follow, LINE_BREAKS, longestInText, type Pattern } from "./pattern.ts";
import type { SecretValue } from "./secret-value.ts";

const GRAM = 3; // bytes
/** Bytes. A line of a hex dump has more, so that a dump is never skipped. */
const WIDEST_WINDOW = 32;
/** Bytes. Longer forms are followed by an automaton. */
const LONG = 64;

export interface Match {
  readonly start: number;
  readonly end: number;
  readonly pattern: Pattern;
}

/** Up to where a search through a long form has got, for each of the two windows. */
interface Progress {
  near: number;
  far: number;
}

export class VariantMatcher {
  /** Bytes, of the longest one; 0 where there is none. */
  readonly longest: number = 0;
  /** Bytes, of the longest value. */
  readonly longestValue: number = 0;
  readonly #all: Pattern[] = [];
  /** What all have at least. */
  readonly #window: number = 0;
  /** By three bytes, how far the window may move on. */
  readonly #skips = new Uint8Array(1 << 16);
  /** By three bytes that may belong to a hex dump of a value, where the window stops: how far it may move on, and 1. */
  readonly #cells = new Uint8Array(1 << 16);
  /** Those whose window ends with these three bytes. */
  readonly #byEnd = new Map<number, Pattern[]>();
  readonly #isFirst = new Uint8Array(1 << 8);
  /** By their first two bytes. */
  readonly #byStart = new Map<number, Pattern[]>();
  #progress = new Map<Pattern, Progress>();
  /** The first and the last place that looks like a hex dump of a value in the latest search, or -1. */
  firstDump = -1;
  lastDump = -1;

  /** Those that may be shown are left out. */
  constructor(secrets: readonly SecretValue[]) {
    let shortest = WIDEST_WINDOW;
    for (const { name, value, isRedacted } of secrets) {
      if (!isRedacted) continue;
      if (value.length > this.longestValue) this.longestValue = value.length;
      const mark = new TextEncoder().encode(`[${oneLine(name)}]`);
      for (const { bytes, publicLength, wrapping } of variantsOf(value)) {
        const start = (bytes[0]! << 8) | bytes[1]!;
        let alike = this.#byStart.get(start);
        if (!alike) this.#byStart.set(start, (alike = []));
        let isKnown = false;
        for (const other of alike) isKnown ||= Buffer.compare(other.bytes, bytes) === 0;
        if (isKnown) {
          bytes.fill(0);
          continue;
        }
        const longest = longestInText(bytes.length, wrapping);
        const pattern = { bytes, publicLength, mark, wrapping, longest };
        alike.push(pattern);
        this.#all.push(pattern);
        this.#isFirst[bytes[0]!] = 1;
        if (longest > this.longest) this.longest = longest;
        if (bytes.length < shortest) shortest = bytes.length;
      }
    }
    if (this.isEmpty) return;
    this.#window = shortest;
    this.#skips.fill(this.#window - GRAM + 1);
    for (const pattern of this.#all) {
      this.#enter(pattern, pattern.bytes, 0);
      if (pattern.wrapping) this.#enterWrapped(pattern);
    }
    enterCells(secrets, this.#skips, this.#cells);
  }

  get isEmpty(): boolean {
    return this.#all.length === 0;
  }

  /** @param text with which a text may begin that has the form. @param from the first byte that was not entered before */
  #enter(pattern: Pattern, text: Uint8Array, from: number): void {
    const skips = this.#skips;
    const last = this.#window - GRAM;
    let gram = 0;
    for (let at = Math.max(0, from - GRAM + 1); at <= last; at += 1) {
      gram = gramOf(text[at]!, text[at + 1]!, text[at + 2]!);
      if (skips[gram]! > last - at) skips[gram] = last - at;
    }
    const alike = this.#byEnd.get(gram);
    if (!alike) this.#byEnd.set(gram, [pattern]);
    else if (alike.at(-1) !== pattern) alike.push(pattern);
  }

  /** With a line break within the window. Behind it, the form is compared with any. */
  #enterWrapped(pattern: Pattern): void {
    const { bytes, wrapping } = pattern;
    const { every, offset } = wrapping!;
    const text = new Uint8Array(this.#window);
    for (let at = offset + every; at < this.#window; at += every) {
      if (at < 1) continue;
      for (const lineBreak of LINE_BREAKS) {
        text.set(bytes.subarray(0, at));
        for (let each = 0; each < lineBreak.length && at + each < text.length; each += 1)
          text[at + each] = lineBreak[each]!;
        const behind = at + lineBreak.length;
        if (behind < text.length) text.set(bytes.subarray(at, at + text.length - behind), behind);
        this.#enter(pattern, text, at);
        if (at === 1) this.#beginsWith((bytes[0]! << 8) | lineBreak[0]!, pattern);
      }
    }
    text.fill(0);
  }

  #beginsWith(start: number, pattern: Pattern): void {
    const alike = this.#byStart.get(start);
    if (alike) alike.push(pattern);
    else this.#byStart.set(start, [pattern]);
  }

  /** All that end behind `seen`, in no order. */
  find(text: Uint8Array, length: number, seen: number): Match[] {
    const matches: Match[] = [];
    this.firstDump = -1;
    this.lastDump = -1;
    if (this.isEmpty) return matches;
    if (this.#progress.size > 0) this.#progress.clear();
    const skips = this.#skips;
    // Two windows move at once, since each of their steps has to wait for what the table says.
    let near = this.#window - 1;
    const middle = Math.max(near, length >> 1);
    let far = middle;
    while (near < middle && far < length) {
      const skip = skips[gramOf(text[near - 2]!, text[near - 1]!, text[near]!)]!;
      const farSkip = skips[gramOf(text[far - 2]!, text[far - 1]!, text[far]!)]!;
      near += skip !== 0 ? skip : this.#stop(text, near, length, seen, matches, "near");
      far += farSkip !== 0 ? farSkip : this.#stop(text, far, length, seen, matches, "far");
    }
    const isNear = near < middle;
    const [from, to] = isNear ? [near, middle] : [far, length];
    for (let at = from; at < to;) {
      const skip = skips[gramOf(text[at - 2]!, text[at - 1]!, text[at]!)]!;
      at += skip !== 0 ? skip : this.#stop(text, at, length, seen, matches, isNear ? "near" : "far");
    }
    return matches;
  }

  /** Returns how far the window may move on. Most stops are neither a form nor a dump, so this is short. */
  #stop(
    text: Uint8Array,
    at: number,
    length: number,
    seen: number,
    matches: Match[],
    window: keyof Progress,
  ): number {
    const gram = gramOf(text[at - 2]!, text[at - 1]!, text[at]!);
    const cell = this.#cells[gram]!;
    if (cell > 0) {
      if (isDump(text, at, length)) {
        if (this.firstDump < 0 || at < this.firstDump) this.firstDump = at;
        if (at > this.lastDump) this.lastDump = at;
      }
      if (cell > 1) return cell - 1;
    }
    const patterns = this.#byEnd.get(gram);
    if (patterns) this.#compare(patterns, text, at, length, seen, matches, window);
    return 1;
  }

  /** With the forms whose window may end there. */
  #compare(
    patterns: readonly Pattern[],
    text: Uint8Array,
    at: number,
    length: number,
    seen: number,
    matches: Match[],
    window: keyof Progress,
  ): void {
    const start = at - this.#window + 1;
    for (const pattern of patterns) {
      const size = pattern.bytes.length;
      if (start + size > length) continue;
      if (size > LONG) {
        this.#follow(pattern, text, start, length, seen, matches, window);
        continue;
      }
      const { count, place: end } = agreeFrom(pattern, text, start, length);
      if (count === size && end > seen && end - start <= pattern.longest)
        matches.push({ start, end, pattern });
    }
  }

  #follow(
    pattern: Pattern,
    text: Uint8Array,
    start: number,
    length: number,
    seen: number,
    matches: Match[],
    window: keyof Progress,
  ): void {
    let progress = this.#progress.get(pattern);
    if (progress && start < progress[window]) return;
    if (agreeFrom(pattern, text, start, length).count < this.#window) return;
    if (!progress) this.#progress.set(pattern, (progress = { near: 0, far: 0 }));
    progress[window] = follow(pattern, text, start, length, false, (from, end) => {
      if (end > seen) matches.push({ start: from, end, pattern });
    });
  }

  /** Where the longest end of the text stands that begins a form and is not all of it, from `from` on; or the end. */
  beginning(text: Uint8Array, length: number, from: number): number {
    const last = length - 1;
    const first = Math.max(from, length - this.longest + 1);
    let budget = BUDGET;
    for (let start = first; start < last; start += 1) {
      if (this.#isFirst[text[start]!] !== 1) continue;
      for (const pattern of this.#byStart.get((text[start]! << 8) | text[start + 1]!) ?? NONE) {
        const { count, place } = agreeFrom(pattern, text, start, length);
        if (place === length && count < pattern.bytes.length) return start;
        budget -= count;
      }
      if (budget < 0)
        return this.#all.reduce(
          (least, pattern) => Math.min(least, follow(pattern, text, start, length, true)),
          length,
        );
    }
    return last >= from && this.#isFirst[text[last]!] === 1 ? last : length;
  }

  /** How far a text may be shown of which each end may begin a form. */
  publicEnd(text: Uint8Array, length: number): number {
    let end = length;
    for (const pattern of this.#all) {
      const from = Math.max(0, length - pattern.longest + 1);
      const start = follow(pattern, text, from, length, true);
      // Later beginnings of the same form may show more.
      if (start < length) end = Math.min(end, publicPlace(pattern, text, start, length));
    }
    return end;
  }

  /** Nothing is found any more. */
  zero(): void {
    for (const { bytes, places, failures } of this.#all) {
      bytes.fill(0);
      places?.fill(0);
      failures?.fill(0);
    }
    this.#all.length = 0;
    this.#byStart.clear();
    this.#byEnd.clear();
    this.#cells.fill(0);
    this.#isFirst.fill(0);
    this.#skips.fill(Math.max(1, this.#window - GRAM + 1));
  }
}

/** Line breaks within a form are public: a user may wait for the end of a line. */
function publicPlace(
  { bytes, publicLength }: Pattern,
  text: Uint8Array,
  start: number,
  length: number,
): number {
  let count = 0;
  let place = start;
  for (; place < length; place += 1) {
    if (text[place] !== bytes[count]) continue;
    if (count === publicLength) break;
    count += 1;
  }
  return place;
}

const NONE: readonly Pattern[] = [];

/** Bytes that may be compared at the end of a text, before automata do it. */
const BUDGET = 1 << 14;
