// Keeps the beginning and the end of a script's output for a report, so that memory and report size are bounded. It
// omits whole lines if possible and counts the omitted bytes.

/** Sizes are in bytes. */
const BEGINNING = 32 << 10;
const END = 96 << 10;
/** Limits for successful scripts of a run with much output. */
const SHORT_BEGINNING = 2 << 10;
const SHORT_END = 6 << 10;
const NEWLINE = 10;

export interface OutputText {
  readonly beginning: string;
  /** Number of bytes omitted between `beginning` and `end`. */
  readonly omitted: number;
  /** "" if no bytes are omitted. */
  readonly end: string;
}

export class TruncatedOutput {
  readonly #beginning = new Bytes();
  readonly #end = new Bytes();
  #omitted = 0;

  get size(): number {
    return this.#beginning.length + this.#end.length;
  }

  append(bytes: Uint8Array): void {
    const space = this.#omitted === 0 && this.#end.length === 0 ? BEGINNING - this.#beginning.length : 0;
    this.#beginning.append(bytes.subarray(0, space));
    this.#end.append(bytes.subarray(space));
    if (this.#end.length > 2 * END) this.trim();
  }

  /** Truncates the end to its limit. */
  trim(): void {
    this.#omitted += this.#end.keepLast(END);
  }

  /** Truncates further, because the run's output is large and this script succeeded. */
  shorten(): void {
    if (this.size <= SHORT_BEGINNING + SHORT_END) return;
    this.#end.prepend(this.#beginning.split(SHORT_BEGINNING));
    this.#omitted += this.#end.keepLast(SHORT_END);
  }

  read(): OutputText {
    this.trim();
    const decoder = new TextDecoder();
    const beginning = this.#beginning.view();
    const end = this.#end.view();
    if (this.#omitted === 0)
      return { beginning: decoder.decode(Buffer.concat([beginning, end])), omitted: 0, end: "" };
    // A truncated line would look like a whole one.
    const from = beginning.lastIndexOf(NEWLINE) + 1 || beginning.length;
    const to = end.indexOf(NEWLINE) + 1;
    return {
      beginning: decoder.decode(beginning.subarray(0, from)),
      omitted: this.#omitted + beginning.length - from + to,
      end: decoder.decode(end.subarray(to)),
    };
  }
}

class Bytes {
  #buffer = new Uint8Array();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  view(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  append(bytes: Uint8Array): void {
    if (this.#length + bytes.length > this.#buffer.length) {
      const larger = new Uint8Array(Math.max(this.#buffer.length * 2, this.#length + bytes.length));
      larger.set(this.view());
      this.#buffer = larger;
    }
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  prepend(bytes: Uint8Array): void {
    const old = this.view();
    this.#buffer = new Uint8Array(bytes.length + old.length);
    this.#buffer.set(bytes);
    this.#buffer.set(old, bytes.length);
    this.#length = this.#buffer.length;
  }

  /** Keeps the first `size` bytes and returns the rest. */
  split(size: number): Uint8Array {
    const rest = this.view().slice(size);
    this.#buffer = this.view().slice(0, size);
    this.#length = this.#buffer.length;
    return rest;
  }

  /** Keeps the last `size` bytes. Returns the number of removed bytes. */
  keepLast(size: number): number {
    const removed = this.#length - size;
    if (removed <= 0) return 0;
    this.#buffer = this.view().slice(removed);
    this.#length = size;
    return removed;
  }
}
