// Draws rows on the alternate screen of rt's terminal, and leaves it on every way out of the process.
//
// Invariants:
// - Only rows that have changed are written. No line wraps.
// - After `leave`, the normal screen has its cursor, and the lines from before.
import type { Console } from "../../../platform/terminal/contract/console.ts";
import type { OutputQueue } from "../../tasks/output-queue.ts";

const ENTER = "\x1b[?1049h\x1b[?7l\x1b[?25l\x1b[H\x1b[2J";
const LEAVE = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";
const BEGIN_UPDATE = "\x1b[?2026h";
const END_UPDATE = "\x1b[?2026l";

export interface ScreenCursor {
  readonly x: number;
  readonly y: number;
}

export class ListScreen {
  readonly #queue: OutputQueue;
  readonly #tty: Console;
  #rows: readonly string[] = [];
  #cursor = "";
  #isActive = false;
  readonly #leaveAtExit = () => this.#leaveNow();

  constructor(queue: OutputQueue, tty: Console) {
    this.#queue = queue;
    this.#tty = tty;
  }

  get isActive(): boolean {
    return this.#isActive;
  }

  enter(): void {
    if (this.#isActive) return;
    this.#isActive = true;
    this.#rows = [];
    this.#cursor = "";
    process.on("exit", this.#leaveAtExit);
    this.#tty.setMode("keys");
    void this.#queue.write(1, ENTER);
  }

  /** @param cursor the position of the visible cursor; undefined to hide it */
  draw(rows: readonly string[], cursor?: ScreenCursor): void {
    if (!this.#isActive) return;
    let text = "";
    for (const [at, row] of rows.entries())
      if (row !== this.#rows[at]) text += `\x1b[${at + 1};1H${row}\x1b[K`;
    const shown = cursor ? `\x1b[${cursor.y + 1};${cursor.x + 1}H\x1b[?25h` : "\x1b[?25l";
    if (text === "" && shown === this.#cursor) return;
    this.#rows = [...rows];
    this.#cursor = shown;
    void this.#queue.write(1, `${BEGIN_UPDATE}\x1b[?25l${text}${shown}${END_UPDATE}`);
  }

  /** The next frame is drawn as a whole: the terminal has changed. */
  clear(): void {
    if (!this.#isActive) return;
    this.#rows = [];
    this.#cursor = "";
    void this.#queue.write(1, "\x1b[2J");
  }

  leave(): void {
    if (!this.#isActive) return;
    this.#isActive = false;
    process.off("exit", this.#leaveAtExit);
    void this.#queue.write(1, LEAVE);
    this.#tty.setMode("shell");
  }

  /** For an exit that has not finished the run, such as an internal error. */
  #leaveNow(): void {
    this.leave();
    void this.#queue.flush();
    this.#tty.close();
  }
}
