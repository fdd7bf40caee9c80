// One stream in which no value is to be seen: bytes go in, bytes come out, with `[NAME]` in place of each form of a value.
//
// Contract: what comes out depends on what goes in, not on how it is cut into pieces. Values that overlap are covered
// together, under the name of the longest. It is looked at twice, as it is (a value in a title) and without the
// sequences that steer a terminal (a value with colours in it); those stand behind the mark then, so that colours stay
// right. On the second screen, where programs place each character, a mark is as wide as what it covers.
// Held back is the longest end that may begin a value, exactly, so a value never gets out in halves; `release` shows as
// much of it as says nothing, and `end` all of it. Memory is bounded: a value may have up to MOST_BETWEEN bytes of
// sequences in it, and what overlaps without an end is covered by several marks.
//
// Surprising: after `release` something of what is held has been shown. Should it turn out to be a value, the mark stands
// behind that; should it have been shown as a mark, what belongs to the same piece gets no second one.
import { type DumpText, findInDumps, findOpenDump } from "./dump-search.ts";
import type { Match, VariantMatcher } from "./pattern-matcher.ts";
import { AT_START, ESCAPE, type Reading, VisibleText } from "./escape-sequences.ts";

/** Bytes. More than a colour for each letter takes. */
const MOST_BETWEEN = 1 << 14;
const MOST_MERGED = 1 << 16;

/** Matches that overlap. Places are counted from the beginning of the stream. */
interface Region {
  start: number;
  end: number;
  longest: number;
  mark: Uint8Array;
  isMarked: boolean;
  /** What was found as it stands: starts and ends, in turn. Sequences in it are a part of a value. */
  readonly literal: number[];
}

interface Found {
  readonly start: number;
  readonly end: number;
  readonly match: Match;
  readonly isLiteral: boolean;
}

/** Bytes of a piece that is worth not to be copied. */
const LONG = 1 << 12;

const NOTHING = new Uint8Array(0);

export class RedactionFilter {
  #patterns: VariantMatcher;
  /** What may still become a part of a value, whether it has been shown or not. */
  #held: Uint8Array = NOTHING;
  /** Where it begins in the stream, and what was known there. */
  #base = 0;
  #reading: Reading = AT_START;
  #isSecondScreen = false;
  /** What of it has been shown. */
  #shown = 0;
  #regions: Region[] = [];
  /** The held bytes may be the beginning of a hex dump. */
  #isDumpHeld = false;
  /** How far it may be shown then: two bytes of a value. */
  #dumpEnd = 0;
  /** The letter in front of it. */
  #before = "";

  constructor(patterns: VariantMatcher) {
    this.#patterns = patterns;
  }

  /** From now on it is these that are looked for, also in what is held. */
  use(patterns: VariantMatcher): void {
    this.#patterns = patterns;
  }

  /** Whether something has not been shown yet. */
  get isHolding(): boolean {
    return this.#shown < this.#base + this.#held.length;
  }

  /** What can be shown now, in order. The bytes may be those that were given. */
  push(bytes: Uint8Array): readonly Uint8Array[] {
    if (bytes.length === 0) return [];
    const before = this.#heldBefore(bytes);
    const output = this.#take(bytes);
    return before.length === 0 ? [output] : [before, output];
  }

  /** What is held is often a letter or two, which a long piece without any sequence decides: it need not be copied for that. */
  #heldBefore(bytes: Uint8Array): Uint8Array {
    const held = this.#held;
    const { longest } = this.#patterns;
    const isPlain = !this.#isDumpHeld && this.#regions.length === 0 && this.#reading.state === AT_START.state;
    if (held.length === 0 || !isPlain || bytes.length < LONG || longest > LONG) return NOTHING;
    if (this.#shown > this.#base || held.includes(ESCAPE) || bytes.includes(ESCAPE)) return NOTHING;
    const seam = joined([held, bytes.subarray(0, longest)]);
    if (this.#patterns.find(seam, seam.length, 0).some(({ start }) => start < held.length)) return NOTHING;
    this.#before = String.fromCharCode(held.at(-1)!);
    this.#held = NOTHING;
    this.#base += held.length;
    this.#shown = this.#base;
    return held;
  }

  #take(bytes: Uint8Array): Uint8Array {
    const seen = this.#held.length;
    const piece = seen === 0 ? bytes : joined([this.#held, bytes]);
    const visible = this.#visibleIn(piece);
    this.#merge(this.#findAll(piece, visible, seen, false));
    let keep = this.#patterns.beginning(piece, piece.length, 0);
    if (visible) keep = Math.min(keep, this.#visibleBeginning(piece, visible));
    const dump = findOpenDump(this.#patterns, this.#textOf(piece, visible));
    this.#isDumpHeld = dump !== undefined;
    if (dump) {
      const { start, publicEnd } = dump;
      keep = Math.min(keep, visible ? visible.placeOf(start) : start);
      this.#dumpEnd = this.#base + (visible ? visible.placeOf(publicEnd) : publicEnd);
    }
    const open = this.#regions.find(({ end }) => end > this.#base + keep);
    if (open) keep = Math.min(keep, open.start - this.#base);
    const output = this.#show(piece, visible, keep);
    this.#keep(piece, visible, keep);
    return output;
  }

  /** Of what is held, what says nothing: nobody has written more for a while, and somebody may wait to read it. */
  release(): Uint8Array {
    const piece = this.#held;
    const visible = this.#visibleIn(piece);
    let end = this.#patterns.publicEnd(piece, piece.length);
    if (visible) {
      const shown = this.#patterns.publicEnd(visible.bytes, visible.length);
      if (shown < visible.length) end = Math.min(end, visible.placeOf(shown));
    }
    if (this.#isDumpHeld) end = Math.min(end, this.#dumpEnd - this.#base);
    const region = this.#regions[0];
    if (region && region.start - this.#base <= end) end = region.end - this.#base;
    return this.#show(piece, visible, end);
  }

  /** No more will come. */
  end(): Uint8Array {
    const piece = this.#held;
    const visible = this.#visibleIn(piece);
    if (this.#isDumpHeld) this.#merge(this.#findAll(piece, visible, piece.length, true));
    const output = this.#show(piece, visible, piece.length).slice();
    this.#keep(piece, visible, piece.length);
    return output;
  }

  /** Undefined where everything is to be seen. */
  #visibleIn(piece: Uint8Array): VisibleText | undefined {
    if (this.#reading.state === AT_START.state && piece.indexOf(ESCAPE) < 0) return undefined;
    return new VisibleText(piece, this.#reading);
  }

  /** In the order of their ends. */
  #findAll(piece: Uint8Array, visible: VisibleText | undefined, seen: number, isFinal: boolean): Found[] {
    const found: Found[] = [];
    for (const match of this.#patterns.find(piece, piece.length, seen))
      found.push({ start: match.start, end: match.end, match, isLiteral: true });
    const before = visible ? visible.visibleBefore(seen) : seen;
    const matches = visible ? this.#patterns.find(visible.bytes, visible.length, before) : [];
    const dumps = findInDumps(
      this.#patterns,
      this.#textOf(piece, visible),
      before,
      this.#isDumpHeld,
      isFinal,
    );
    for (const { start, end, match } of dumps) {
      const places = visible ? [visible.placeOf(start), visible.placeOf(end - 1) + 1] : [start, end];
      found.push({ start: places[0]!, end: places[1]!, match, isLiteral: !visible });
    }
    for (const match of matches) {
      const start = visible!.placeOf(match.start);
      const end = visible!.placeOf(match.end - 1) + 1;
      const between = end - start - (match.end - match.start);
      if (between > 0 && between <= MOST_BETWEEN) found.push({ start, end, match, isLiteral: false });
    }
    return found.sort((one, other) => one.end - other.end || one.start - other.start);
  }

  #textOf(piece: Uint8Array, visible: VisibleText | undefined): DumpText {
    const { bytes: text, length } = visible ?? { bytes: piece, length: piece.length };
    return { text, length, before: this.#before };
  }

  #merge(found: readonly Found[]): void {
    for (const { start: from, end: to, match, isLiteral } of found) {
      const end = this.#base + to;
      const longest = match.end - match.start;
      let region: Region = {
        start: this.#base + from,
        end,
        longest,
        mark: match.pattern.mark,
        isMarked: false,
        literal: isLiteral ? [this.#base + from, end] : [],
      };
      // A dump has several regions, which are found at its end.
      const later: Region[] = [];
      for (let last = this.#regions.at(-1); last && last.end > region.start; last = this.#regions.at(-1)) {
        if (last.start >= region.end) {
          later.push(this.#regions.pop()!);
          continue;
        }
        if (end - last.start > MOST_MERGED && region.start >= last.start) {
          region.start = last.end;
          break;
        }
        this.#regions.pop();
        region = union(last, region);
      }
      if (region.start < region.end) this.#regions.push(region);
      this.#regions.push(...later.toReversed());
    }
  }

  #visibleBeginning(piece: Uint8Array, visible: VisibleText): number {
    const { bytes, length } = visible;
    for (let from = 0; ;) {
      const start = this.#patterns.beginning(bytes, length, from);
      if (start === length) return piece.length;
      const place = visible.placeOf(start);
      if (piece.length - place - (length - start) <= MOST_BETWEEN) return place;
      from = start + 1;
    }
  }

  /** @param end in the piece; in no region that has not been shown */
  #show(piece: Uint8Array, visible: VisibleText | undefined, end: number): Uint8Array {
    const base = this.#base;
    let at = Math.max(0, this.#shown - base);
    if (end <= at) return NOTHING;
    this.#shown = base + end;
    const parts: Uint8Array[] = [];
    for (const region of this.#regions) {
      const from = Math.max(region.start - base, at);
      const to = region.end - base;
      if (from >= end) break;
      if (to <= at) continue;
      if (from > at) parts.push(piece.subarray(at, from));
      const steering = visible ? steeringIn(visible, region, base, from, to) : [];
      if (!region.isMarked) parts.push(this.#markOf(region, piece, visible, steering, from, to));
      region.isMarked = true;
      for (const [start, stop] of steering) parts.push(piece.subarray(start, stop));
      at = to;
    }
    if (at < end) parts.push(piece.subarray(at, end));
    return parts.length === 1 ? parts[0]! : joined(parts);
  }

  #markOf(
    { mark }: Region,
    piece: Uint8Array,
    visible: VisibleText | undefined,
    steering: readonly Span[],
    from: number,
    to: number,
  ): Uint8Array {
    let isSecond = this.#isSecondScreen;
    for (const screen of visible?.screens ?? []) if (screen.at <= from) ({ isSecond } = screen);
    if (!isSecond) return mark;
    const covered: Uint8Array[] = [];
    let at = from;
    for (const [start, stop] of steering) {
      covered.push(piece.subarray(at, start));
      at = stop;
    }
    covered.push(piece.subarray(at, to));
    const value = joined(covered);
    const width = Bun.stringWidth(new TextDecoder().decode(value));
    value.fill(0);
    const padded = new Uint8Array(width).fill(ASTERISK);
    padded.set(mark.subarray(0, width));
    return padded;
  }

  /** What stands from `start` on in the piece may be a part of what comes. */
  #keep(piece: Uint8Array, visible: VisibleText | undefined, start: number): void {
    const held = start === piece.length ? NOTHING : piece.slice(start);
    this.#held.fill(0);
    this.#held = held;
    if (start > 0) this.#before = String.fromCharCode(piece[start - 1]!);
    const { screens = [] } = visible ?? {};
    for (const { at, isSecond } of screens) if (at <= start) this.#isSecondScreen = isSecond;
    if (visible)
      this.#reading =
        start === piece.length ? visible.end : new VisibleText(piece.subarray(0, start), this.#reading).end;
    this.#base += start;
    if (this.#shown < this.#base) this.#shown = this.#base;
    if (this.#regions.length > 0) this.#regions = this.#regions.filter(({ end }) => end > this.#base);
  }
}

const ASTERISK = 0x2a;

type Span = readonly [start: number, end: number];

/** The sequences within a region that are no part of a value, as places in the piece. */
function steeringIn(
  visible: VisibleText,
  { literal }: Region,
  base: number,
  from: number,
  to: number,
): Span[] {
  const spans: Span[] = [];
  const { sequences } = visible;
  for (let each = 0; each < sequences.length && sequences[each]! < to; each += 2) {
    const start = Math.max(sequences[each]!, from);
    const end = Math.min(sequences[each + 1]!, to);
    if (start < end && !touches(literal, base + start, base + end)) spans.push([start, end]);
  }
  return spans;
}

function touches(spans: readonly number[], start: number, end: number): boolean {
  for (let each = 0; each < spans.length; each += 2)
    if (spans[each]! < end && spans[each + 1]! > start) return true;
  return false;
}

function union(first: Region, second: Region): Region {
  const { longest, mark } = second.longest > first.longest ? second : first;
  const literal = [...first.literal];
  for (let each = 0; each < second.literal.length; each += 2) {
    const [start, end] = [second.literal[each]!, second.literal[each + 1]!];
    if (literal.length > 0 && start <= literal.at(-1)! && start >= literal.at(-2)!)
      literal[literal.length - 1] = end;
    else literal.push(start, end);
  }
  return {
    start: Math.min(first.start, second.start),
    end: Math.max(first.end, second.end),
    longest,
    mark,
    isMarked: first.isMarked || second.isMarked,
    literal,
  };
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const result = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    result.set(part, at);
    at += part.length;
  }
  return result;
}
