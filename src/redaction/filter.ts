// Redacts one stream: replaces each variant of a value by `[NAME]`.
//
// Invariants:
// - The output does not depend on the chunking of the input. The longest suffix that may begin a variant is held back, so no
//   value is shown in parts. `release` shows its public part, `end` shows all of it.
// - Both the raw bytes (a value in a title) and the visible text (a value with colours in it) are searched. Overlapping values
//   get one mark, that of the longest. The sequences inside follow the mark, so that colours stay correct.
// - On the alternate screen a mark is as wide as the covered text. Memory is bounded by MAX_SEQUENCE_BYTES and MAX_MERGED.
//
// Non-obvious: if text shown by `release` turns out to be part of a value, the mark follows it. A region gets one mark only.
import { type DumpText, findInDumps, findOpenDump } from "./dump-search.ts";
import type { Match, VariantMatcher } from "./pattern-matcher.ts";
import { AT_START, ESCAPE, type Reading, VisibleText } from "./escape-sequences.ts";

/** Bytes of escape sequences within one value; more than one colour per character needs. */
const MAX_SEQUENCE_BYTES = 1 << 14;
/** Bytes that one mark covers. Longer overlaps get several marks. */
const MAX_MERGED = 1 << 16;

/** A group of overlapping matches. Positions count from the start of the stream. */
interface Region {
  start: number;
  end: number;
  longest: number;
  mark: Uint8Array;
  isMarked: boolean;
  /** Starts and ends of raw matches, alternating. Escape sequences inside them are part of a value. */
  readonly literal: number[];
}

interface FoundMatch {
  readonly start: number;
  readonly end: number;
  readonly match: Match;
  readonly isLiteral: boolean;
}

/** Bytes. Longer pieces are not copied if that can be avoided. */
const LARGE_PIECE = 1 << 12;

const NO_BYTES = new Uint8Array(0);

export class RedactionFilter {
  #patterns: VariantMatcher;
  /** The suffix that may begin a value, shown or not. */
  #held: Uint8Array = NO_BYTES;
  /** Position of the held bytes in the stream; the parser state and screen below are those at this position. */
  #base = 0;
  #reading: Reading = AT_START;
  #isSecondScreen = false;
  /** Position up to which the stream has been shown. */
  #shown = 0;
  #regions: Region[] = [];
  /** The held bytes may begin a hex dump. */
  #isDumpHeld = false;
  /** Position up to which that dump may be shown: at most two bytes of a value. */
  #dumpEnd = 0;
  /** The character before the held bytes. */
  #before = "";

  constructor(patterns: VariantMatcher) {
    this.#patterns = patterns;
  }

  /** Replaces the matcher, for the held bytes too. */
  use(patterns: VariantMatcher): void {
    this.#patterns = patterns;
  }

  /** Whether some input has not been shown yet. */
  get isHolding(): boolean {
    return this.#shown < this.#base + this.#held.length;
  }

  /** Returns the output that is decided, in order. It may contain views of the input. */
  push(bytes: Uint8Array): readonly Uint8Array[] {
    if (bytes.length === 0) return [];
    const before = this.#heldBefore(bytes);
    const output = this.#take(bytes);
    return before.length === 0 ? [output] : [before, output];
  }

  /**
   * Returns the held bytes if a large piece without escape sequences shows that they are not part of a value. The piece is
   * then not copied to join both.
   */
  #heldBefore(bytes: Uint8Array): Uint8Array {
    const held = this.#held;
    const { longest } = this.#patterns;
    const isPlain = !this.#isDumpHeld && this.#regions.length === 0 && this.#reading.state === AT_START.state;
    if (held.length === 0 || !isPlain || bytes.length < LARGE_PIECE || longest > LARGE_PIECE) return NO_BYTES;
    if (this.#shown > this.#base || held.includes(ESCAPE) || bytes.includes(ESCAPE)) return NO_BYTES;
    const seam = concat([held, bytes.subarray(0, longest)]);
    if (this.#patterns.find(seam, seam.length, 0).some(({ start }) => start < held.length)) return NO_BYTES;
    this.#before = String.fromCharCode(held.at(-1)!);
    this.#held = NO_BYTES;
    this.#base += held.length;
    this.#shown = this.#base;
    return held;
  }

  #take(bytes: Uint8Array): Uint8Array {
    const searched = this.#held.length;
    const piece = searched === 0 ? bytes : concat([this.#held, bytes]);
    const visible = this.#visibleIn(piece);
    this.#merge(this.#findAll(piece, visible, searched, false));
    let keep = this.#patterns.beginning(piece, piece.length, 0);
    if (visible) keep = Math.min(keep, this.#visibleBeginning(piece, visible));
    const dump = findOpenDump(this.#patterns, this.#textOf(piece, visible));
    this.#isDumpHeld = dump !== undefined;
    if (dump) {
      const { start, publicEnd } = dump;
      keep = Math.min(keep, visible ? visible.positionOf(start) : start);
      this.#dumpEnd = this.#base + (visible ? visible.positionOf(publicEnd) : publicEnd);
    }
    const open = this.#regions.find(({ end }) => end > this.#base + keep);
    if (open) keep = Math.min(keep, open.start - this.#base);
    const output = this.#show(piece, visible, keep);
    this.#keep(piece, visible, keep);
    return output;
  }

  /** Returns the public part of the held bytes, because a user may be waiting for a prompt. */
  release(): Uint8Array {
    const piece = this.#held;
    const visible = this.#visibleIn(piece);
    let end = this.#patterns.publicEnd(piece, piece.length);
    if (visible) {
      const shown = this.#patterns.publicEnd(visible.bytes, visible.length);
      if (shown < visible.length) end = Math.min(end, visible.positionOf(shown));
    }
    if (this.#isDumpHeld) end = Math.min(end, this.#dumpEnd - this.#base);
    const region = this.#regions[0];
    if (region && region.start - this.#base <= end) end = region.end - this.#base;
    return this.#show(piece, visible, end);
  }

  /** Returns the rest at the end of the stream. */
  end(): Uint8Array {
    const piece = this.#held;
    const visible = this.#visibleIn(piece);
    if (this.#isDumpHeld) this.#merge(this.#findAll(piece, visible, piece.length, true));
    const output = this.#show(piece, visible, piece.length).slice();
    this.#keep(piece, visible, piece.length);
    return output;
  }

  /** Returns undefined if the piece has no escape sequences. */
  #visibleIn(piece: Uint8Array): VisibleText | undefined {
    if (this.#reading.state === AT_START.state && piece.indexOf(ESCAPE) < 0) return undefined;
    return new VisibleText(piece, this.#reading);
  }

  /** Returns all matches, sorted by their ends. */
  #findAll(
    piece: Uint8Array,
    visible: VisibleText | undefined,
    searched: number,
    isFinal: boolean,
  ): FoundMatch[] {
    const found: FoundMatch[] = [];
    for (const match of this.#patterns.find(piece, piece.length, searched))
      found.push({ start: match.start, end: match.end, match, isLiteral: true });
    const before = visible ? visible.visibleBefore(searched) : searched;
    const matches = visible ? this.#patterns.find(visible.bytes, visible.length, before) : [];
    const dumps = findInDumps(
      this.#patterns,
      this.#textOf(piece, visible),
      before,
      this.#isDumpHeld,
      isFinal,
    );
    for (const { start, end, match } of dumps) {
      const places = visible ? [visible.positionOf(start), visible.positionOf(end - 1) + 1] : [start, end];
      found.push({ start: places[0]!, end: places[1]!, match, isLiteral: !visible });
    }
    for (const match of matches) {
      const start = visible!.positionOf(match.start);
      const end = visible!.positionOf(match.end - 1) + 1;
      const between = end - start - (match.end - match.start);
      if (between > 0 && between <= MAX_SEQUENCE_BYTES) found.push({ start, end, match, isLiteral: false });
    }
    return found.sort((one, other) => one.end - other.end || one.start - other.start);
  }

  #textOf(piece: Uint8Array, visible: VisibleText | undefined): DumpText {
    const { bytes: text, length } = visible ?? { bytes: piece, length: piece.length };
    return { text, length, before: this.#before };
  }

  #merge(found: readonly FoundMatch[]): void {
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
      // The regions of a dump are found at its end, so later regions may exist already.
      const later: Region[] = [];
      for (let last = this.#regions.at(-1); last && last.end > region.start; last = this.#regions.at(-1)) {
        if (last.start >= region.end) {
          later.push(this.#regions.pop()!);
          continue;
        }
        if (end - last.start > MAX_MERGED && region.start >= last.start) {
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
      const position = visible.positionOf(start);
      if (piece.length - position - (length - start) <= MAX_SEQUENCE_BYTES) return position;
      from = start + 1;
    }
  }

  /** Shows the piece up to a position. @param end position in the piece; not inside an unmarked region */
  #show(piece: Uint8Array, visible: VisibleText | undefined, end: number): Uint8Array {
    const base = this.#base;
    let at = Math.max(0, this.#shown - base);
    if (end <= at) return NO_BYTES;
    this.#shown = base + end;
    const parts: Uint8Array[] = [];
    for (const region of this.#regions) {
      const from = Math.max(region.start - base, at);
      const to = region.end - base;
      if (from >= end) break;
      if (to <= at) continue;
      if (from > at) parts.push(piece.subarray(at, from));
      const sequences = visible ? sequencesIn(visible, region, base, from, to) : [];
      if (!region.isMarked) parts.push(this.#markOf(region, piece, visible, sequences, from, to));
      region.isMarked = true;
      for (const [start, stop] of sequences) parts.push(piece.subarray(start, stop));
      at = to;
    }
    if (at < end) parts.push(piece.subarray(at, end));
    return parts.length === 1 ? parts[0]! : concat(parts);
  }

  #markOf(
    { mark }: Region,
    piece: Uint8Array,
    visible: VisibleText | undefined,
    sequences: readonly Span[],
    from: number,
    to: number,
  ): Uint8Array {
    let isAlternate = this.#isSecondScreen;
    for (const screen of visible?.screens ?? []) if (screen.at <= from) ({ isAlternate } = screen);
    if (!isAlternate) return mark;
    const covered: Uint8Array[] = [];
    let at = from;
    for (const [start, stop] of sequences) {
      covered.push(piece.subarray(at, start));
      at = stop;
    }
    covered.push(piece.subarray(at, to));
    const value = concat(covered);
    const width = Bun.stringWidth(new TextDecoder().decode(value));
    value.fill(0);
    const padded = new Uint8Array(width).fill(ASTERISK);
    padded.set(mark.subarray(0, width));
    return padded;
  }

  /** Holds the piece from a position on. */
  #keep(piece: Uint8Array, visible: VisibleText | undefined, start: number): void {
    const held = start === piece.length ? NO_BYTES : piece.slice(start);
    this.#held.fill(0);
    this.#held = held;
    if (start > 0) this.#before = String.fromCharCode(piece[start - 1]!);
    const { screens = [] } = visible ?? {};
    for (const { at, isAlternate } of screens) if (at <= start) this.#isSecondScreen = isAlternate;
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

/** Returns the escape sequences in a region that are not part of a value, as positions in the piece. */
function sequencesIn(
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

function concat(parts: readonly Uint8Array[]): Uint8Array {
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
