// Puts a prefix before every line of one stream of bytes.
//
// Contract: taking the prefixes away gives the bytes back, whatever they are (invalid UTF-8, NUL, CRLF, bare
// CR); only a last line without a line break gets one. Whole lines leave at once; an unfinished one waits
// for its end, up to `HOLD_TIME` or `HOLD_SIZE`, and then leaves in pieces. If something else has to be
// written while a piece stands open, its line is ended and resumes behind a new prefix: streams that never
// break their lines take no more memory than others and hold nobody up.
//
// Surprising: bytes are handled as Latin-1 strings, in which every byte is one character, because the engine
// replaces in strings faster than any loop over bytes can, except where lines are very short. `Buffer` is left to
// functions that are called for lines alone: the engine makes it when a function that mentions it is first called.
import type { OutputQueue } from "../../tasks/output-queue.ts";

const HOLD_TIME = 100; // ms
const HOLD_SIZE = 1 << 16;
const SLICE = 1 << 15;
const NEWLINE = 10;
/** Below this many bytes a line, the loop over bytes wins. */
const SHORT_LINE = 16;

/** Who has a line standing open on the terminal or pipe, over all streams of a run. */
export class OpenLine {
  #owner: LinePrefixer | null = null;

  get owner(): LinePrefixer | null {
    return this.#owner;
  }

  /** Ends whatever line another stream has open. */
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
  /** Whether a line goes out bare, by its first bytes (a command for the CI service, say). */
  readonly isBare?: (line: Uint8Array) => boolean;
}

export class LinePrefixer {
  readonly #options: PrefixerOptions;
  readonly #prefix: Uint8Array;
  #separator: string | undefined;
  /** The unfinished line, or what is left of it. */
  #held: Uint8Array[] = [];
  #heldSize = 0;
  /** Whether the beginning of the held line has been written already. */
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
      this.#releaseHeld();
      let pending: void | Promise<void> = undefined;
      for (let start = 0; start <= lastBreak; start += SLICE) {
        pending = this.#emit(bytes.subarray(start, Math.min(start + SLICE, lastBreak + 1))) ?? pending;
      }
      if (lastBreak + 1 < bytes.length) this.#hold(bytes.subarray(lastBreak + 1));
      return pending;
    }
    if (this.#heldSize + bytes.length > HOLD_SIZE || this.#isOpen) {
      this.#releaseHeld();
      return this.#emit(bytes);
    }
    this.#hold(bytes);
  }

  /** No more bytes will come: the last line is ended. */
  end(): void {
    this.#releaseHeld();
    if (this.#isOpen) this.#options.openLine.take(null, false);
  }

  /** Called by whoever has to write while our line stands open. */
  breakLine(): void {
    this.#isOpen = false;
    void this.#options.queue.write(this.#options.descriptor, "\n");
  }

  #hold(bytes: Uint8Array): void {
    this.#held.push(bytes.slice());
    this.#heldSize += bytes.length;
    this.#timer ??= setTimeout(() => this.#releaseHeld(), HOLD_TIME);
  }

  #releaseHeld(): void {
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
    if (bytes.indexOf(NEWLINE) < 0) return this.#writePiece(bytes);
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

  /** Part of a line: nothing to look for, and no string to be made of what may be very long. */
  #writePiece(bytes: Uint8Array): number {
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
      const found = bytes.indexOf(NEWLINE, start);
      const end = found < 0 ? bytes.length : found + 1;
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
