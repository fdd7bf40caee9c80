// Writes typed input to a child on a pseudo-terminal, and sets the terminal's size.
//
// Invariants: a child that does not read never blocks rt. Input that exceeds MAX_TYPED is dropped.
import { writeAvailable } from "../../native/posix/pipe.ts";
import type { ChildTerminal, TerminalDimensions } from "../../processes/contract/process-tree.ts";
import { setSize } from "./terminal-modes.ts";

/** Bytes of input that wait for a child that does not read. */
const MAX_TYPED = 1 << 16;
const TYPE_INTERVAL = 10; // ms

export class TypedTerminal implements ChildTerminal {
  #master: number;
  #waiting: Uint8Array[] = [];
  #size = 0;
  #timer: Timer | undefined;

  constructor(master: number) {
    this.#master = master;
  }

  type(bytes: Uint8Array): void {
    if (this.#master < 0 || this.#size + bytes.length > MAX_TYPED) return;
    this.#waiting.push(bytes.slice());
    this.#size += bytes.length;
    if (!this.#timer) this.#write();
  }

  #write(): void {
    this.#timer = undefined;
    for (let first = this.#waiting[0]; first && this.#master >= 0; first = this.#waiting[0]) {
      const count = writeAvailable(this.#master, first);
      if (count === null) return this.close();
      this.#size -= count;
      if (count < first.length) this.#waiting[0] = first.subarray(count);
      else this.#waiting.shift();
      if (count === 0) {
        this.#timer = setTimeout(() => this.#write(), TYPE_INTERVAL);
        return;
      }
    }
  }

  resize(size: TerminalDimensions): void {
    if (this.#master >= 0) setTerminalSize(this.#master, size);
  }

  /** Before the reader closes the descriptor. */
  close(): void {
    this.#master = -1;
    this.#waiting = [];
    clearTimeout(this.#timer);
  }
}

export function setTerminalSize(descriptor: number, { columns, rows }: TerminalDimensions): void {
  setSize(descriptor, Uint16Array.of(rows, columns, 0, 0));
}
