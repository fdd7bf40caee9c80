// Everything the reporters write, in the order in which they wrote it, in few large writes.
//
// Contract: bytes leave in order, also between standard output and error. Small writes leave together at the
// end of the event loop's turn. A slow reader is waited for without shutting out signals, and its slowness
// reaches the scripts: `write` then returns a promise. What cannot be written is told once through `onBroken`, and on
// standard error where that was not the one: with a reader gone everything after that is dropped, and where there is no
// room what was for the same descriptor. From `hurry` on a reader that takes nothing counts as gone.
import { outputs } from "../../platform/terminal/output.ts";

const FLUSH_AT = 1 << 16;
const FIRST_SIZE = 1 << 12;
const PATIENCE = 10; // ms the thread may wait for a reader before signals get their turn
const LAST_PATIENCE = 100; // ms for one that is the last to be waited for

interface QueuedSegment {
  readonly descriptor: 1 | 2;
  end: number;
}

/** `code` is EPIPE when the reader has gone. */
export interface OutputFailure extends Error {
  readonly code?: string;
}

const encoder = new TextEncoder();

export class OutputQueue {
  onBroken: (failure: OutputFailure) => void = () => {};
  #buffer = new Uint8Array(FIRST_SIZE);
  #length = 0;
  #segments: QueuedSegment[] = [];
  #isScheduled = false;
  #isPushing = false;
  readonly #broken = new Set<1 | 2>();
  #draining: Promise<void> | undefined;
  readonly #hurry = Promise.withResolvers<void>();
  #isInHurry = false;

  /** Resolves when nobody is to be waited for any more. */
  readonly hurried = this.#hurry.promise;

  /** Whether the reader is being waited for. */
  get isHeldUp(): boolean {
    return this.#draining !== undefined;
  }

  hurry(): void {
    this.#isInHurry = true;
    this.#hurry.resolve();
  }

  write(descriptor: 1 | 2, data: string | Uint8Array): void | Promise<void> {
    const bytes = typeof data === "string" ? encoder.encode(data) : data;
    this.reserve(bytes.length);
    this.#buffer.set(bytes, this.#length);
    return this.commit(descriptor, bytes.length);
  }

  /** Room for `size` bytes, to be filled from `offset` on and then committed. */
  reserve(size: number): { buffer: Uint8Array; offset: number } {
    if (this.#length + size > this.#buffer.length) {
      const larger = new Uint8Array(Math.max(this.#buffer.length * 2, this.#length + size));
      larger.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = larger;
    }
    return { buffer: this.#buffer, offset: this.#length };
  }

  commit(descriptor: 1 | 2, size: number): void | Promise<void> {
    if (size === 0 || this.#broken.has(descriptor)) return;
    this.#length += size;
    const last = this.#segments.at(-1);
    if (last?.descriptor === descriptor) last.end = this.#length;
    else this.#segments.push({ descriptor, end: this.#length });
    if (this.#isPushing) return; // the loop there comes to it
    if (this.#draining) return this.#length > FLUSH_AT ? this.#draining : undefined;
    if (this.#length >= FLUSH_AT) return this.flush();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      void this.flush();
    });
  }

  /** Resolves when all that was written so far has left. */
  flush(): void | Promise<void> {
    if (this.#draining) return this.#draining;
    if (this.#pushOut()) return;
    this.#draining = this.#drain();
    return this.#draining;
  }

  async #drain(): Promise<void> {
    await null; // `#draining` is set before this function may clear it
    for (;;) {
      const first = this.#segments[0];
      if (first) outputs.awaitWritable(first.descriptor, this.#isInHurry ? LAST_PATIENCE : PATIENCE);
      const left = this.#length;
      if (this.#pushOut()) break;
      if (this.#isInHurry && this.#length === left) this.#broken.add(this.#segments[0]!.descriptor);
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#draining = undefined;
  }

  /** True when nothing is left. */
  #pushOut(): boolean {
    this.#isPushing = true;
    let start = 0;
    for (let segment = this.#segments[0]; segment; segment = this.#segments[0]) {
      const { descriptor } = segment;
      while (start < segment.end && !this.#broken.has(descriptor)) {
        const count = this.#writeSome(descriptor, this.#buffer.subarray(start, segment.end));
        if (count === 0) break;
        start += count;
      }
      if (start < segment.end && !this.#broken.has(descriptor)) break;
      start = segment.end;
      this.#segments.shift();
    }
    this.#isPushing = false;
    this.#keepFrom(start);
    return this.#length === 0;
  }

  /** What cannot be written counts as written. */
  #writeSome(descriptor: 1 | 2, bytes: Uint8Array): number {
    try {
      return outputs.writeSome(descriptor, bytes);
    } catch (error) {
      this.#break(descriptor, error as OutputFailure);
      return bytes.length;
    }
  }

  #keepFrom(start: number): void {
    if (start === 0) return;
    this.#buffer.copyWithin(0, start, this.#length);
    this.#length -= start;
    for (const segment of this.#segments) segment.end -= start;
  }

  #break(descriptor: 1 | 2, failure: OutputFailure): void {
    this.#broken.add(descriptor);
    if (failure.code === "EPIPE") this.#broken.add(1).add(2);
    else void this.write(2, `error: ${failure.message}\n`);
    this.onBroken(failure);
  }
}
