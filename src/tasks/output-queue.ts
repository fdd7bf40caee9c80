// Buffers the output of all reporters and writes it in few large writes, with backpressure.
//
// Invariants:
// - Bytes are written in order, also between stdout and stderr. Small writes are flushed together at the end of the
//   event-loop turn.
// - A slow reader does not block signals. It slows down the scripts: `write` then returns a promise.
// - A write error is reported once to `onBroken`, and on stderr if stderr still works. After EPIPE all further
//   output is dropped, after other errors that of the same descriptor.
// - After `hurry`, a reader that accepts nothing counts as disconnected.
import { forbidReplay } from "../../platform/files/lookup-recorder.ts";
import { outputs } from "../../platform/terminal/output.ts";

const FLUSH_AT = 1 << 16;
const FIRST_SIZE = 1 << 12;
const WRITE_WAIT = 10; // ms that the thread may block on a reader before signals are handled
const LAST_WRITE_WAIT = 100; // ms after `hurry`

interface QueuedSegment {
  readonly descriptor: 1 | 2;
  end: number;
}

/** `code` is EPIPE if the reader has disconnected. */
export interface OutputFailure extends Error {
  readonly code?: string;
}

const encoder = new TextEncoder();

export class OutputQueue {
  onBroken: (failure: OutputFailure) => void = () => {};
  #buffer: Uint8Array = new Uint8Array(FIRST_SIZE);
  #length = 0;
  #segments: QueuedSegment[] = [];
  #isScheduled = false;
  #isPushing = false;
  readonly #broken = new Set<1 | 2>();
  #draining: Promise<void> | undefined;
  readonly #hurry = Promise.withResolvers<void>();
  #isInHurry = false;

  /** Resolves when `hurry` is called: slow readers are not waited for any more. */
  readonly hurried = this.#hurry.promise;

  /** Whether a slow reader blocks the queue. */
  get isHeldUp(): boolean {
    return this.#draining !== undefined;
  }

  hurry(): void {
    this.#isInHurry = true;
    this.#hurry.resolve();
  }

  write(descriptor: 1 | 2, data: string | Uint8Array): void | Promise<void> {
    const bytes = typeof data === "string" ? encoder.encode(data) : data;
    if (bytes !== data && this.#length === 0 && bytes.length > this.#buffer.length) {
      this.#buffer = bytes; // a plan of thousands of tasks is not copied
    } else {
      this.reserve(bytes.length);
      this.#buffer.set(bytes, this.#length);
    }
    return this.commit(descriptor, bytes.length);
  }

  /** Reserves `size` bytes. The caller fills them from `offset` on and calls `commit`. */
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
    forbidReplay();
    this.#length += size;
    const last = this.#segments.at(-1);
    if (last?.descriptor === descriptor) last.end = this.#length;
    else this.#segments.push({ descriptor, end: this.#length });
    if (this.#isPushing) return; // the running loop writes it
    if (this.#draining) return this.#length > FLUSH_AT ? this.#draining : undefined;
    if (this.#length >= FLUSH_AT) return this.flush();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      void this.flush();
    });
  }

  /** Resolves when everything written so far has been flushed. */
  flush(): void | Promise<void> {
    if (this.#draining) return this.#draining;
    if (this.#writeQueued()) return;
    this.#draining = this.#drain();
    return this.#draining;
  }

  async #drain(): Promise<void> {
    await Promise.resolve(); // `#draining` is set before this function may clear it
    for (;;) {
      const first = this.#segments[0];
      if (first) outputs.awaitWritable(first.descriptor, this.#isInHurry ? LAST_WRITE_WAIT : WRITE_WAIT);
      const lengthBefore = this.#length;
      if (this.#writeQueued()) break;
      if (this.#isInHurry && this.#length === lengthBefore) this.#broken.add(this.#segments[0]!.descriptor);
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#draining = undefined;
  }

  #writeQueued(): boolean {
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
    this.#discardBefore(start);
    return this.#length === 0;
  }

  /** Returns the number of bytes done. Bytes that fail count as written. */
  #writeSome(descriptor: 1 | 2, bytes: Uint8Array): number {
    try {
      return outputs.writeSome(descriptor, bytes);
    } catch (error) {
      this.#break(descriptor, error as OutputFailure);
      return bytes.length;
    }
  }

  #discardBefore(start: number): void {
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
