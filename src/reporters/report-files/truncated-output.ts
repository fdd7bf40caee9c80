// What a script has written, for a report: its beginning and its end, so that a talkative script makes neither rt nor the
// report large. What is left out is counted, in whole lines where there are any.

/** Bytes, as everything here. */
const BEGINNING = 32 << 10;
const END = 96 << 10;
/** Of a script that succeeded in a run whose scripts wrote much. */
const SHORT_BEGINNING = 2 << 10;
const SHORT_END = 6 << 10;
const NEWLINE = 10;

export interface OutputText {
  readonly beginning: string;
  /** How many bytes are missing here. */
  readonly omitted: number;
  /** "" unless some are. */
  readonly end: string;
}

export class KeptOutput {
  readonly #beginning = new Bytes();
  readonly #end = new Bytes();
  #omitted = 0;

  /** How much of it is kept. */
  get size(): number {
    return this.#beginning.length + this.#end.length;
  }

  append(bytes: Uint8Array): void {
    const room = this.#omitted === 0 && this.#end.length === 0 ? BEGINNING - this.#beginning.length : 0;
    this.#beginning.append(bytes.subarray(0, room));
    this.#end.append(bytes.subarray(room));
    if (this.#end.length > 2 * END) this.trim();
  }

  /** Nothing more comes for now. */
  trim(): void {
    this.#omitted += this.#end.keepLast(END);
  }

  /** The run's output as a whole is large, and this is of no great interest. */
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
    // A line that is cut would be taken for one.
    const from = beginning.lastIndexOf(NEWLINE) + 1 || beginning.length;
    const to = end.indexOf(NEWLINE) + 1;
    return {
      beginning: decoder.decode(beginning.subarray(0, from)),
      omitted: this.#omitted + beginning.length - from + to,
      end: decoder.decode(end.subarray(to)),
    };
  }
}

/** Bytes that grow, in one piece. */
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

  /** Keeps the first `size`, and hands out the rest. */
  split(size: number): Uint8Array {
    const rest = this.view().slice(size);
    this.#buffer = this.view().slice(0, size);
    this.#length = this.#buffer.length;
    return rest;
  }

  /** @returns how many went */
  keepLast(size: number): number {
    const gone = this.#length - size;
    if (gone <= 0) return 0;
    this.#buffer = this.view().slice(gone);
    this.#length = size;
    return gone;
  }
}
