// Our end of a pipe or terminal that a child writes to: first silent, then read as a stream or, after the exit, in one go.
//
// Contract: bytes come in order, and the next ones when the receiver has dealt with the last. A process that a script left
// in the background may hold the other end open for ever: after the script's exit it is heard for `LINGER` more, then not
// any longer.
import { closeDescriptor, hasOutput, readAvailable } from "../../native/posix/pipe.ts";

const LINGER = 100; // ms
const LOOK_AGAIN_AFTER = 10; // ms
/** Bytes that may still be in a pipe when nobody listens to it any more. */
const MOST_IN_PIPE = 1 << 20;

export class OutputReader {
  readonly #descriptor: number;
  readonly #deliver: (bytes: Uint8Array) => void | Promise<void>;
  #stream: Promise<void> | undefined;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #isHeard = true;
  #isClosed = false;
  #isDelivering = false;

  constructor(descriptor: number, deliver: (bytes: Uint8Array) => void | Promise<void>) {
    this.#descriptor = descriptor;
    this.#deliver = deliver;
  }

  attach(): void {
    if (!this.#isClosed) this.#stream ??= this.#pump();
  }

  /**
   * Waits, without anything else going on, for what comes within so many milliseconds, or until a signal comes; true where
   * something has been delivered. Before it is heard as a stream.
   */
  awaitBytes(milliseconds: number): boolean {
    if (this.#stream || this.#isClosed || !hasOutput(this.#descriptor, milliseconds)) return false;
    const bytes = readAvailable(this.#descriptor);
    if (!bytes || bytes.length === 0) return false;
    const pending = this.#deliver(bytes);
    if (pending) this.#stream = pending.then(() => this.#pump());
    return true;
  }

  /** The child has exited: delivers the rest. */
  async finish(): Promise<void> {
    if (!this.#stream) {
      const isAtEnd = await this.#drain();
      if (!isAtEnd) this.attach();
    }
    if (this.#stream) {
      const lingering = setInterval(() => this.#isDelivering || this.#stopListening(), LINGER);
      await this.#stream;
      clearInterval(lingering);
      if (!this.#isHeard) await this.#drain(MOST_IN_PIPE);
    }
    this.#close();
  }

  /** Delivers all that comes until nobody has the other end any more. */
  async readToEnd(): Promise<void> {
    if (!this.#stream && !(await this.#drain())) this.attach();
    await this.#stream;
    this.#close();
  }

  /** Nobody wants what may still come: whoever writes it learns so. */
  abandon(): void {
    this.#stopListening();
    this.#close();
  }

  #close(): void {
    if (!this.#isClosed) closeDescriptor(this.#descriptor);
    this.#isClosed = true;
  }

  /** True at the end of the pipe. */
  async #drain(limit = Number.POSITIVE_INFINITY): Promise<boolean> {
    for (let size = 0; size < limit && !this.#isClosed;) {
      const bytes = readAvailable(this.#descriptor);
      if (bytes === null || bytes.length === 0) return bytes === null;
      size += bytes.length;
      await this.#handOver(bytes);
    }
    return this.#isClosed;
  }

  /** Its reader's slowness is no reason to stop listening. */
  async #handOver(bytes: Uint8Array): Promise<void> {
    const pending = this.#deliver(bytes);
    if (!pending) return;
    this.#isDelivering = true;
    await pending;
    this.#isDelivering = false;
  }

  async #pump(): Promise<void> {
    try {
      this.#reader = Bun.file(this.#descriptor).stream().getReader();
      for (;;) {
        const { done, value } = await this.#reader.read();
        if (done) return;
        await this.#handOver(value);
      }
    } catch {
      // The stream needs a descriptor of its own, of which there may be none left.
    }
    while (this.#isHeard && !(await this.#drain())) await Bun.sleep(LOOK_AGAIN_AFTER);
  }

  #stopListening(): void {
    this.#isHeard = false;
    void this.#reader?.cancel().catch(() => {});
  }
}
