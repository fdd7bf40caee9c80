// What is typed at the terminal that rt is on, read only while it is rt's to read.
//
// Contract: nothing is taken that comes after `stop`, since it is somebody else's: the next program's, or the shell's. The
// next bytes wait until the last ones have found their place. `onEnd` is told when there is no terminal any more.
//
// Surprising: the engine's own ways of reading a terminal wait in a thread that takes one more key after it was told to
// stop. A descriptor that never waits, read as a file, does not; each reading has one of its own.
import { closeDescriptor } from "../../native/posix/pipe.ts";

export interface KeyboardOptions {
  /** Opens the terminal anew, to be read without waiting; below 0 where it cannot be. */
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

  /** From the next turn of the event loop on: what has ended by then needs no keys, and they stay whose they are. */
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
      // The terminal has gone.
    }
    closeDescriptor(descriptor);
    if (this.#reader !== reader) return;
    this.#reader = undefined;
    this.#options.onEnd();
  }
}
