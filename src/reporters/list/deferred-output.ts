// Holds output of a task until its emulator has to read it, and drops lines that would leave the scrollback.
//
// Invariants:
// - A line is dropped only if the lines after it fill the scrollback and the screen, wherever the cursor was. So the
//   cells are the same as if the emulator had read all of it.
// - After a sequence that may change the emulator for good, or that it answers, nothing is held any more.
//
// Non-obvious: the scan has to be fast before the engine optimizes it, so most bytes take a short path.
import { SgrStyle } from "./sgr-style.ts";

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SHIFT_OUT = 0x0e;
const SHIFT_IN = 0x0f;
const ESCAPE = 0x1b;
/** The first byte of U+0080 to U+00BF. */
const LATIN_LEAD = 0xc2;
const FIRST_SIZE = 1 << 14;
/** SGR without parameters, and a return to the first column. */
const LINE_BEGIN = [ESCAPE, 0x5b, 0x6d, CARRIAGE_RETURN];
/** Final bytes of sequences after which the cursor may be above the last line. */
const MOVES = "ABEFHJLMSTdf";
/** Final bytes of sequences that change one line only. */
const LINE_CHANGES = "CDGKPX@`";
/** Private modes that do not change cells: visibility of the cursor, bracketed paste, synchronized output. */
const HARMLESS_MODES: readonly number[] = [25, 2004, 2026];

type ScanState = "text" | "latin" | "escape" | "control";

interface Segment {
  begin: number;
  /** Line feeds that scroll, counted after the last move of the cursor. */
  lines: number;
}

export interface DeferredOutputOptions {
  /** Lines of the scrollback and of two screens, because the cursor may be at the top of a screen that is full. */
  readonly keptLines: number;
  /** Whether a line feed returns to the first column. */
  readonly convertsEol: boolean;
}

export class DeferredOutput {
  readonly #options: DeferredOutputOptions;
  /** Lines of a segment. Whole segments are dropped. */
  readonly #segmentLines: number;
  #buffer = new Uint8Array(FIRST_SIZE);
  #end = 0;
  #segments: Segment[] = [{ begin: 0, lines: 0 }];
  /** Lines of all segments. */
  #lines = 0;
  #hasDropped = false;
  #isUnsuitable = false;
  #state: ScanState = "text";
  #last = 0;
  readonly #style = new SgrStyle();
  // The current parameter of a sequence.
  #value = 0;
  #hasColons = false;
  #isPrivate = false;

  constructor(options: DeferredOutputOptions) {
    this.#options = options;
    this.#segmentLines = Math.ceil(options.keptLines / 10);
  }

  /** Bytes that are held. */
  get length(): number {
    return this.#end - this.#segments[0]!.begin;
  }

  /** Whether the emulator has to read everything at once, now and later. */
  get isUnsuitable(): boolean {
    return this.#isUnsuitable;
  }

  /** Holds a copy of the bytes. */
  add(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    const from = this.#end;
    this.#buffer.set(bytes, from);
    this.#end += bytes.length;
    if (!this.#isUnsuitable) this.#scan(bytes, from);
  }

  /** Returns all bytes that are held, and forgets them. */
  take(): Uint8Array {
    // The emulator may have a style and a column that the dropped lines have ended.
    const prefix = this.#hasDropped ? LINE_BEGIN : [];
    const taken = new Uint8Array(prefix.length + this.length);
    taken.set(prefix);
    taken.set(this.#buffer.subarray(this.#segments[0]!.begin, this.#end), prefix.length);
    this.#segments = [{ begin: 0, lines: 0 }];
    this.#lines = this.#end = 0;
    this.#hasDropped = false;
    return taken;
  }

  #reserve(size: number): void {
    if (this.#end + size <= this.#buffer.length) return;
    const { begin } = this.#segments[0]!;
    const needed = this.length + size;
    const held = this.#buffer.subarray(begin, this.#end);
    // At least half is free then, so bytes are seldom moved.
    if (needed > this.#buffer.length / 2) this.#buffer = new Uint8Array(needed * 2);
    this.#buffer.set(held);
    this.#end -= begin;
    for (const segment of this.#segments) segment.begin -= begin;
  }

  /** @param from position of the bytes in the buffer */
  #scan(bytes: Uint8Array, from: number): void {
    let isText = this.#state === "text";
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at]!;
      if (isText && byte >= 0x20 && byte !== LATIN_LEAD) continue;
      if (!isText) this.#continueSequence(byte);
      else if (byte === LINE_FEED) {
        const segment = this.#segments.at(-1)!;
        segment.lines += 1;
        this.#lines += 1;
        if (segment.lines < this.#segmentLines || !this.#style.isDefault) continue;
        const previous = at > 0 ? bytes[at - 1] : this.#last;
        if (this.#options.convertsEol || previous === CARRIAGE_RETURN) this.#beginSegment(from + at + 1);
      } else if (byte === ESCAPE) this.#state = "escape";
      else if (byte === LATIN_LEAD) this.#state = "latin";
      else if (byte === SHIFT_OUT || byte === SHIFT_IN) this.#isUnsuitable = true;
      if (this.#isUnsuitable) return; // further line feeds may not scroll
      isText = this.#state === "text";
    }
    this.#last = bytes.at(-1) ?? this.#last;
  }

  /** A segment begins at the beginning of a line, without a style. */
  #beginSegment(begin: number): void {
    this.#segments.push({ begin, lines: 0 });
    while (this.#lines - this.#segments[0]!.lines >= this.#options.keptLines) {
      this.#lines -= this.#segments.shift()!.lines;
      this.#hasDropped = true;
    }
  }

  #continueSequence(byte: number): void {
    if (this.#state === "latin") {
      // U+0080 to U+009F are control characters.
      this.#state = "text";
      if (byte < 0xa0) this.#isUnsuitable = true;
    } else if (this.#state === "escape") {
      this.#state = "control";
      this.#value = 0;
      this.#hasColons = this.#isPrivate = false;
      this.#style.begin();
      if (byte !== 0x5b) this.#isUnsuitable = true;
    } else if (byte >= 0x30 && byte <= 0x39) {
      if (!this.#hasColons) this.#value = this.#value * 10 + byte - 0x30;
    } else if (byte === 0x3a) this.#hasColons = true;
    else if (byte === 0x3b) {
      if (this.#isPrivate) this.#isUnsuitable = true;
      this.#endParameter();
    } else if (byte === 0x3f) this.#isPrivate = true;
    else this.#endSequence(byte);
  }

  #endParameter(): void {
    this.#style.addParameter(this.#value, this.#hasColons);
    this.#value = 0;
    this.#hasColons = false;
  }

  #endSequence(byte: number): void {
    this.#state = "text";
    const final = String.fromCharCode(byte);
    if (this.#isPrivate) {
      const isHarmless = (final === "h" || final === "l") && HARMLESS_MODES.includes(this.#value);
      if (!isHarmless) this.#isUnsuitable = true;
    } else if (final === "m") {
      this.#endParameter();
      this.#style.commit();
    } else if (MOVES.includes(final)) this.#forgetLines();
    else if (!LINE_CHANGES.includes(final)) this.#isUnsuitable = true;
  }

  /** Earlier line feeds do not count as lines that scroll. */
  #forgetLines(): void {
    for (const segment of this.#segments) segment.lines = 0;
    this.#lines = 0;
  }
}
