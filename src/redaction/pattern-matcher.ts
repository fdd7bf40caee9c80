// Finds all variants of all values in a text with the Wu-Manber algorithm: a table of trigrams contains how far the search
// may skip. A second index finds variants that begin at the end of the text.
//
// Invariants:
// - Every occurrence is found, overlapping ones too. If two values have the same variant, the first one's name is used.
// - `zero` zeroizes everything derived from values.
//
// Non-obvious: the code consists of few long functions, for the reason in encodings.ts.
import { oneLine } from "../printable.ts";
import { variantsOf } from "./value-variants.ts";
import { trigramHash } from "./trigram.ts";
import { addDumpTrigrams, isDump } from "./hex-dump.ts";
import { matchPrefix, follow, LINE_BREAKS, maxLengthInText, type Pattern } from "./pattern.ts";
import type { SecretValue } from "./secret-value.ts";

const TRIGRAM_LENGTH = 3; // bytes
/** Bytes; fewer than a line of a hex dump, so that the search never skips a dump. */
const MAX_WINDOW = 32;
/** Bytes. Longer variants are matched by an automaton. */
const MAX_COMPARED_LENGTH = 64;

export interface Match {
  readonly start: number;
  readonly end: number;
  readonly pattern: Pattern;
}

/** Progress of the automaton of a long variant, for each of the two windows. */
interface MatchProgress {
  near: number;
  far: number;
}

export class VariantMatcher {
  /** Bytes of the longest variant; 0 without variants. */
  readonly longest: number = 0;
  readonly longestValue: number = 0;
  readonly #all: Pattern[] = [];
  /** Bytes of the window: the length of the shortest variant, within MAX_WINDOW. */
  readonly #window: number = 0;
  /** Skip distance by trigram. */
  readonly #skips = new Uint8Array(1 << 16);
  /** Skip distance plus 1, by trigram that may belong to a hex dump of a value; 0 for other trigrams. */
  readonly #cells = new Uint8Array(1 << 16);
  /** Variants by the trigram at the end of their window. */
  readonly #byEnd = new Map<number, Pattern[]>();
  readonly #isFirst = new Uint8Array(1 << 8);
  /** Variants by their first two bytes. */
  readonly #byStart = new Map<number, Pattern[]>();
  #progress = new Map<Pattern, MatchProgress>();
  /** First and last position of the latest search that looks like a hex dump of a value, or -1. */
  firstDump = -1;
  lastDump = -1;

  /** Ignores values without redaction. */
  constructor(secrets: readonly SecretValue[]) {
    let shortest = MAX_WINDOW;
    for (const { name, value, isRedacted } of secrets) {
      if (!isRedacted) continue;
      if (value.length > this.longestValue) this.longestValue = value.length;
      const mark = new TextEncoder().encode(`[${oneLine(name)}]`);
      for (const { bytes, publicLength, wrapping } of variantsOf(value)) {
        const start = (bytes[0]! << 8) | bytes[1]!;
        let candidates = this.#byStart.get(start);
        if (!candidates) this.#byStart.set(start, (candidates = []));
        let isDuplicate = false;
        for (const other of candidates) isDuplicate ||= Buffer.compare(other.bytes, bytes) === 0;
        if (isDuplicate) {
          bytes.fill(0);
          continue;
        }
        const longest = maxLengthInText(bytes.length, wrapping);
        const pattern = { bytes, publicLength, mark, wrapping, longest };
        candidates.push(pattern);
        this.#all.push(pattern);
        this.#isFirst[bytes[0]!] = 1;
        if (longest > this.longest) this.longest = longest;
        if (bytes.length < shortest) shortest = bytes.length;
      }
    }
    if (this.isEmpty) return;
    this.#window = shortest;
    this.#skips.fill(this.#window - TRIGRAM_LENGTH + 1);
    for (const pattern of this.#all) {
      this.#enter(pattern, pattern.bytes, 0);
      if (pattern.wrapping) this.#enterWrapped(pattern);
    }
    addDumpTrigrams(secrets, this.#skips, this.#cells);
  }

  get isEmpty(): boolean {
    return this.#all.length === 0;
  }

  /**
   * Adds the trigrams of a variant to the tables.
   * @param text a prefix that a match of the variant can have
   * @param from the first byte whose trigrams were not added before
   */
  #enter(pattern: Pattern, text: Uint8Array, from: number): void {
    const skips = this.#skips;
    const last = this.#window - TRIGRAM_LENGTH;
    let trigram = 0;
    for (let at = Math.max(0, from - TRIGRAM_LENGTH + 1); at <= last; at += 1) {
      trigram = trigramHash(text[at]!, text[at + 1]!, text[at + 2]!);
      if (skips[trigram]! > last - at) skips[trigram] = last - at;
    }
    const candidates = this.#byEnd.get(trigram);
    if (!candidates) this.#byEnd.set(trigram, [pattern]);
    else if (candidates.at(-1) !== pattern) candidates.push(pattern);
  }

  /** Adds the variant with a line break within the window. Later line breaks are handled by the comparison. */
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
    const candidates = this.#byStart.get(start);
    if (candidates) candidates.push(pattern);
    else this.#byStart.set(start, [pattern]);
  }

  /** Returns all matches that end after `searched`, unsorted. */
  find(text: Uint8Array, length: number, searched: number): Match[] {
    const matches: Match[] = [];
    this.firstDump = -1;
    this.lastDump = -1;
    if (this.isEmpty) return matches;
    if (this.#progress.size > 0) this.#progress.clear();
    const skips = this.#skips;
    // Two windows move alternately, because each step depends on a table lookup: the lookups overlap in the processor.
    let near = this.#window - 1;
    const middle = Math.max(near, length >> 1);
    let far = middle;
    while (near < middle && far < length) {
      const skip = skips[trigramHash(text[near - 2]!, text[near - 1]!, text[near]!)]!;
      const farSkip = skips[trigramHash(text[far - 2]!, text[far - 1]!, text[far]!)]!;
      near += skip !== 0 ? skip : this.#stop(text, near, length, searched, matches, "near");
      far += farSkip !== 0 ? farSkip : this.#stop(text, far, length, searched, matches, "far");
    }
    const isNear = near < middle;
    const [from, to] = isNear ? [near, middle] : [far, length];
    for (let at = from; at < to;) {
      const skip = skips[trigramHash(text[at - 2]!, text[at - 1]!, text[at]!)]!;
      at += skip !== 0 ? skip : this.#stop(text, at, length, searched, matches, isNear ? "near" : "far");
    }
    return matches;
  }

  /** Returns the next skip distance. Most stops are neither a variant nor a dump, so this function is short. */
  #stop(
    text: Uint8Array,
    at: number,
    length: number,
    searched: number,
    matches: Match[],
    window: keyof MatchProgress,
  ): number {
    const trigram = trigramHash(text[at - 2]!, text[at - 1]!, text[at]!);
    const cell = this.#cells[trigram]!;
    if (cell > 0) {
      if (isDump(text, at, length)) {
        if (this.firstDump < 0 || at < this.firstDump) this.firstDump = at;
        if (at > this.lastDump) this.lastDump = at;
      }
      if (cell > 1) return cell - 1;
    }
    const patterns = this.#byEnd.get(trigram);
    if (patterns) this.#compare(patterns, text, at, length, searched, matches, window);
    return 1;
  }

  /** Compares the variants whose window may end at a position. */
  #compare(
    patterns: readonly Pattern[],
    text: Uint8Array,
    at: number,
    length: number,
    searched: number,
    matches: Match[],
    window: keyof MatchProgress,
  ): void {
    const start = at - this.#window + 1;
    for (const pattern of patterns) {
      const size = pattern.bytes.length;
      if (start + size > length) continue;
      if (size > MAX_COMPARED_LENGTH) {
        this.#follow(pattern, text, start, length, searched, matches, window);
        continue;
      }
      const { count, place: end } = matchPrefix(pattern, text, start, length);
      if (count === size && end > searched && end - start <= pattern.longest)
        matches.push({ start, end, pattern });
    }
  }

  #follow(
    pattern: Pattern,
    text: Uint8Array,
    start: number,
    length: number,
    searched: number,
    matches: Match[],
    window: keyof MatchProgress,
  ): void {
    let progress = this.#progress.get(pattern);
    if (progress && start < progress[window]) return;
    if (matchPrefix(pattern, text, start, length).count < this.#window) return;
    if (!progress) this.#progress.set(pattern, (progress = { near: 0, far: 0 }));
    progress[window] = follow(pattern, text, start, length, false, (from, end) => {
      if (end > searched) matches.push({ start: from, end, pattern });
    });
  }

  /** Returns the start of the longest suffix, from `from` on, that is a proper prefix of a variant; or the length. */
  beginning(text: Uint8Array, length: number, from: number): number {
    const last = length - 1;
    const first = Math.max(from, length - this.longest + 1);
    let budget = COMPARISON_BUDGET;
    for (let start = first; start < last; start += 1) {
      if (this.#isFirst[text[start]!] !== 1) continue;
      for (const pattern of this.#byStart.get((text[start]! << 8) | text[start + 1]!) ?? NO_PATTERNS) {
        const { count, place } = matchPrefix(pattern, text, start, length);
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

  /** Returns the position up to which a text may be shown although its suffixes may begin a variant. */
  publicEnd(text: Uint8Array, length: number): number {
    let end = length;
    for (const pattern of this.#all) {
      const from = Math.max(0, length - pattern.longest + 1);
      const start = follow(pattern, text, from, length, true);
      // The longest suffix is the most restrictive one for its variant.
      if (start < length) end = Math.min(end, publicEndOf(pattern, text, start, length));
    }
    return end;
  }

  /** Zeroizes the variants. Later searches find nothing. */
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
    this.#skips.fill(Math.max(1, this.#window - TRIGRAM_LENGTH + 1));
  }
}

/** Returns the end of the public part. Line breaks in a variant are public: a user may wait for the end of a line. */
function publicEndOf(
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

const NO_PATTERNS: readonly Pattern[] = [];

/** Bytes that are compared at the end of a text before the automata take over. Bounds the worst case. */
const COMPARISON_BUDGET = 1 << 14;
