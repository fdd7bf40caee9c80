// Inserts a prefix before every line of a byte stream.
//
// Invariants:
// - Removing the prefixes restores the bytes exactly; only an unterminated last line gets a line break.
// - Whole lines are written at once. A partial line is buffered up to `HOLD_TIME` or `HOLD_SIZE` and then written
//   in chunks.
// - Other output that interrupts a partial line ends it; the line continues behind a new prefix. Memory is bounded.
//
// Non-obvious: bytes are handled as Latin-1 strings, because the engine's `replaceAll` is faster than a loop over
// bytes, except for very short lines. Only small functions mention `Buffer`, because the engine creates it when
// such a function is first called.
import type { OutputQueue } from "../../tasks/output-queue.ts";

const HOLD_TIME = 100; // ms
const HOLD_SIZE = 1 << 16;
const SLICE = 1 << 15;
const NEWLINE = 10;
/** Below this number of bytes a line, the loop over bytes is faster. */
const SHORT_LINE = 16;

/** Tracks which stream of a run has written a partial line to the terminal or pipe. */
export class OpenLine {
  #owner: LinePrefixer | null = null;

  get owner(): LinePrefixer | null {
    return this.#owner;
  }

  /** Ends the partial line of another stream. */
  take(next: LinePrefixer | null, isLeftOpen: boolean): void {
    if (this.#owner !== null && this.#owner !== next) this.#owner.breakLine();
    this.#owner = isLeftOpen ? next : null;
  }
}

export interface PrefixerOptions {
  readonly queue: OutputQueue;
  readonly descriptor: 1 | 2;
  readonly prefix: string;
  readonly openLine: OpenLine;
  /** Whether a line is printed without prefix, by its first bytes (for example a workflow command). */
  readonly isBare?: (line: Uint8Array) => boolean;
}

export class LinePrefixer {
  readonly #options: PrefixerOptions;
  readonly #prefix: Uint8Array;
  #separator: string | undefined;
  /** The buffered part of the unfinished line. */
  #held: Uint8Array[] = [];
  #heldSize = 0;
  /** Whether the beginning of the buffered line has been written already. */
  #isOpen = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #areLinesShort = false;

  constructor(options: PrefixerOptions) {
    this.#options = options;
    this.#prefix = new TextEncoder().encode(options.prefix);
  }

  write(bytes: Uint8Array): void | Promise<void> {
    const lastBreak = bytes.lastIndexOf(NEWLINE);
    if (lastBreak >= 0) {
      this.#flushHeld();
      let pending: void | Promise<void> = undefined;
      for (let start = 0; start <= lastBreak; start += SLICE) {
        pending = this.#emit(bytes.subarray(start, Math.min(start + SLICE, lastBreak + 1))) ?? pending;
      }
      if (lastBreak + 1 < bytes.length) this.#hold(bytes.subarray(lastBreak + 1));
      return pending;
    }
    if (this.#heldSize + bytes.length > HOLD_SIZE || this.#isOpen) {
      this.#flushHeld();
      return this.#emit(bytes);
    }
    this.#hold(bytes);
  }

  /** Ends the stream and its last line. */
  end(): void {
    this.#flushHeld();
    if (this.#isOpen) this.#options.openLine.take(null, false);
  }

  /** Called when other output interrupts this stream's partial line. */
  breakLine(): void {
    this.#isOpen = false;
    void this.#options.queue.write(this.#options.descriptor, "\n");
  }

  #hold(bytes: Uint8Array): void {
    this.#held.push(bytes.slice());
    this.#heldSize += bytes.length;
    this.#timer ??= setTimeout(() => this.#flushHeld(), HOLD_TIME);
  }

  #flushHeld(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const held = this.#held;
    if (held.length === 0) return;
    this.#held = [];
    this.#heldSize = 0;
    void this.#emit(held.length === 1 ? held[0]! : join(held));
  }

  #emit(bytes: Uint8Array): void | Promise<void> {
    const { openLine, isBare } = this.#options;
    const endsOpen = bytes[bytes.length - 1] !== NEWLINE;
    openLine.take(this, endsOpen);
    const size = isBare ? this.#writeSelectively(bytes, isBare) : this.#writePrefixed(bytes);
    this.#isOpen = endsOpen;
    return this.#options.queue.commit(this.#options.descriptor, size);
  }

  #writePrefixed(bytes: Uint8Array): number {
    if (bytes.indexOf(NEWLINE) < 0) return this.#writePartialLine(bytes);
    if (this.#areLinesShort) return this.#writeByBytes(bytes);
    const text = asBuffer(bytes).toString("latin1");
    this.#separator ??= `\n${asBuffer(this.#prefix).toString("latin1")}`;
    let prefixed = text.replaceAll("\n", this.#separator);
    const lines = (prefixed.length - text.length) / this.#prefix.length;
    this.#areLinesShort = lines * SHORT_LINE > text.length;
    if (text.endsWith("\n")) prefixed = prefixed.slice(0, -this.#prefix.length || undefined);
    const lead = this.#isOpen ? 0 : this.#prefix.length;
    const { buffer, offset } = this.#options.queue.reserve(lead + prefixed.length);
    if (lead > 0) buffer.set(this.#prefix, offset);
    asBuffer(buffer).write(prefixed, offset + lead, "latin1");
    return lead + prefixed.length;
  }

  /** Writes a part of a line without a search and without creating a string, because it may be very long. */
  #writePartialLine(bytes: Uint8Array): number {
    const lead = this.#isOpen ? 0 : this.#prefix.length;
    const { buffer, offset } = this.#options.queue.reserve(lead + bytes.length);
    if (lead > 0) buffer.set(this.#prefix, offset);
    buffer.set(bytes, offset + lead);
    return lead + bytes.length;
  }

  #writeByBytes(bytes: Uint8Array): number {
    const prefix = this.#prefix;
    const { buffer, offset } = this.#options.queue.reserve(bytes.length * (prefix.length + 1));
    let at = offset;
    let lines = 0;
    let isInside = this.#isOpen;
    for (let index = 0; index < bytes.length; index++) {
      if (!isInside) {
        for (let position = 0; position < prefix.length; position++) buffer[at++] = prefix[position]!;
        isInside = true;
      }
      const byte = bytes[index]!;
      buffer[at++] = byte;
      if (byte === NEWLINE) {
        isInside = false;
        lines++;
      }
    }
    this.#areLinesShort = lines * SHORT_LINE > bytes.length;
    return at - offset;
  }

  #writeSelectively(bytes: Uint8Array, isBare: (line: Uint8Array) => boolean): number {
    const parts: Uint8Array[] = [];
    for (let start = 0; start < bytes.length;) {
      const lineBreak = bytes.indexOf(NEWLINE, start);
      const end = lineBreak < 0 ? bytes.length : lineBreak + 1;
      const line = bytes.subarray(start, end);
      if (!(start === 0 && this.#isOpen) && !isBare(line)) parts.push(this.#prefix);
      parts.push(line);
      start = end;
    }
    const joined = join(parts);
    const { buffer, offset } = this.#options.queue.reserve(joined.length);
    buffer.set(joined, offset);
    return joined.length;
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(parts);
}
