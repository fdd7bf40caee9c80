// Reads keys from rt's terminal while the program that uses them runs.
//
// Invariants:
// - No byte is consumed after `stop`: it belongs to the next program or the shell.
// - The next chunk waits until the last one has been forwarded (backpressure). `onEnd` is called if the terminal is closed.
//
// Non-obvious: the engine's own terminal streams block in a thread, which consumes one more key after their stop. A non-blocking
// descriptor read as a file does not. Each reading period has a separate descriptor.
import { closeDescriptor } from "../../native/posix/pipe.ts";

export interface KeyboardOptions {
  /** Opens the terminal, non-blocking; returns a value below 0 on failure. */
  open(): number;
  onKeys(keys: Uint8Array): void | Promise<void>;
  onEnd(): void;
}

type KeyboardReader = ReadableStreamDefaultReader<Uint8Array>;

export class Keyboard {
  readonly #options: KeyboardOptions;
  #reader: KeyboardReader | undefined;
  #starting: ReturnType<typeof setImmediate> | undefined;

  constructor(options: KeyboardOptions) {
    this.#options = options;
  }

  /** Starts with the next turn of the event loop: a program that has exited by then needs no keys. */
  start(): void {
    if (!this.#reader) this.#starting ??= setImmediate(() => this.#open());
  }

  #open(): void {
    this.#starting = undefined;
    const descriptor = this.#options.open();
    if (descriptor < 0) return;
    this.#reader = Bun.file(descriptor).stream().getReader();
    void this.#read(this.#reader, descriptor);
  }

  stop(): void {
    clearImmediate(this.#starting);
    this.#starting = undefined;
    const reader = this.#reader;
    this.#reader = undefined;
    void reader?.cancel().catch(() => {});
  }

  async #read(reader: KeyboardReader, descriptor: number): Promise<void> {
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        await this.#options.onKeys(value);
      }
    } catch {
      // The terminal is closed.
    }
    closeDescriptor(descriptor);
    if (this.#reader !== reader) return;
    this.#reader = undefined;
    this.#options.onEnd();
  }
}
