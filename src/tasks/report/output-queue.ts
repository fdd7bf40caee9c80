// Everything the reporters write, in the order in which they wrote it, in few large writes.
//
// Contract: bytes leave in order, also between standard output and error. Small writes leave together at the
// end of the event loop's turn. A slow reader is waited for without shutting out signals, and its slowness
// reaches the scripts: `write` then returns a promise. When the reader is gone, or there is no room, `onBroken` is
// called once and everything after that is dropped.
import { outputs } from "../../../platform/output.ts";

const FLUSH_AT = 1 << 16;
const FIRST_SIZE = 1 << 12;
const PATIENCE = 10; // ms the thread may wait for a reader before signals get their turn

interface Segment {
  readonly descriptor: 1 | 2;
  end: number;
}

/** `code` is EPIPE when the reader has gone. */
export interface OutputFailure {
  readonly code?: string;
  readonly message: string;
}

const encoder = new TextEncoder();

export class OutputQueue {
  onBroken: (failure: OutputFailure) => void = () => {};
  #buffer = new Uint8Array(FIRST_SIZE);
  #length = 0;
  #segments: Segment[] = [];
  #isScheduled = false;
  #isBroken = false;
  #draining: Promise<void> | undefined;

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
    if (this.#isBroken || size === 0) return;
    this.#length += size;
    const last = this.#segments.at(-1);
    if (last?.descriptor === descriptor) last.end = this.#length;
    else this.#segments.push({ descriptor, end: this.#length });
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
      const descriptor = this.#segments[0]?.descriptor;
      if (descriptor !== undefined) outputs.awaitWritable(descriptor, PATIENCE);
      if (this.#pushOut()) break;
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#draining = undefined;
  }

  /** True when nothing is left. */
  #pushOut(): boolean {
    let start = 0;
    try {
      for (let segment = this.#segments[0]; segment; segment = this.#segments[0]) {
        while (start < segment.end) {
          const count = outputs.writeSome(segment.descriptor, this.#buffer.subarray(start, segment.end));
          if (count === 0) {
            this.#keepFrom(start);
            return false;
          }
          start += count;
        }
        this.#segments.shift();
      }
    } catch (error) {
      this.#break(error as OutputFailure);
    }
    this.#length = 0;
    return true;
  }

  #keepFrom(start: number): void {
    if (start === 0) return;
    this.#buffer.copyWithin(0, start, this.#length);
    this.#length -= start;
    for (const segment of this.#segments) segment.end -= start;
  }

  #break(failure: OutputFailure): void {
    this.#isBroken = true;
    this.#segments = [];
    if (failure.code !== "EPIPE") {
      try {
        outputs.writeSome(2, encoder.encode(`error: ${failure.message}\n`));
      } catch {
        // Then nobody can be told.
      }
    }
    this.onBroken(failure);
  }
}
