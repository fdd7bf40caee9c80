// Reads the output of a child from rt's end of a pipe or pseudo-terminal. It is a stream while the child runs; the rest is read
// after its exit.
//
// Invariants:
// - Chunks arrive in order, each after the receiver has processed the one before (backpressure).
// - A background process may hold the other end open: after the script's exit it is read for `LINGER` more, then closed.
import { closeDescriptor, hasOutput, readAvailable } from "../../native/posix/pipe.ts";

const LINGER = 100; // ms
const POLL_INTERVAL = 10; // ms
/** Upper bound of the bytes in a pipe that is drained after the script's exit. */
const MAX_PIPE_SIZE = 1 << 20;

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

  /** Whether a stream would have something to read at once. */
  hasBytes(): boolean {
    return !this.#isClosed && hasOutput(this.#descriptor, 0);
  }

  /**
   * Blocks until bytes arrive, for at most so many milliseconds or until a signal arrives. Returns whether something was delivered.
   * Must be called before the stream starts.
   */
  awaitBytes(milliseconds: number): boolean {
    if (this.#stream || this.#isClosed || !hasOutput(this.#descriptor, milliseconds)) return false;
    const bytes = readAvailable(this.#descriptor);
    if (!bytes || bytes.length === 0) return false;
    const pending = this.#deliver(bytes);
    if (pending) this.#stream = pending.then(() => this.#pump());
    return true;
  }

  /** Delivers the rest after the child has exited. */
  async finish(): Promise<void> {
    if (!this.#stream) {
      const isAtEnd = await this.#drain();
      if (!isAtEnd) this.attach();
    }
    if (this.#stream) {
      const lingering = setInterval(() => this.#isDelivering || this.#stopListening(), LINGER);
      await this.#stream;
      clearInterval(lingering);
      if (!this.#isHeard) await this.#drain(MAX_PIPE_SIZE);
    }
    this.#close();
  }

  /** Delivers what has arrived, and later the output of background processes until they close the pipe. */
  async finishLater(): Promise<void> {
    if (!this.#stream && (await this.#drain())) return this.#close();
    this.attach();
    const ended = this.#stream?.then(() => this.#close());
    await Promise.race([ended, Bun.sleep(LINGER)]);
  }

  /** Delivers everything until the other end is closed. */
  async readToEnd(): Promise<void> {
    if (!this.#stream && !(await this.#drain())) this.attach();
    await this.#stream;
    this.#close();
  }

  /** Closes the reader: later writes fail with EPIPE. */
  abandon(): void {
    this.#stopListening();
    this.#close();
  }

  #close(): void {
    if (!this.#isClosed) closeDescriptor(this.#descriptor);
    this.#isClosed = true;
  }

  /** Returns true at the end of the pipe. */
  async #drain(limit = Number.POSITIVE_INFINITY): Promise<boolean> {
    for (let size = 0; size < limit && !this.#isClosed;) {
      const bytes = readAvailable(this.#descriptor);
      if (bytes === null || bytes.length === 0) return bytes === null;
      size += bytes.length;
      await this.#handOver(bytes);
    }
    return this.#isClosed;
  }

  /** Errors of the receiver do not end the reader. */
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
      // The stream duplicates the descriptor, which fails at the limit of open files.
    }
    while (this.#isHeard && !(await this.#drain())) await Bun.sleep(POLL_INTERVAL);
  }

  #stopListening(): void {
    this.#isHeard = false;
    void this.#reader?.cancel().catch(() => {});
  }
}
