// The output of one task in a terminal emulator (@xterm/headless), with its scrollback.
//
// Invariants:
// - Text leaves the emulator as cells only: no title, clipboard or other control sequence of a task reaches the
//   terminal. Bidirectional controls inside a cell are removed.
// - Memory is bounded: the scrollback is, and `write` returns a promise while the emulator has much to do.
// - Output waits outside of the emulator until `flush`, so a task that is not shown costs little.
import { type IBufferLine, type IMarker, Terminal } from "@xterm/headless";
import { renderLine } from "./cell-text.ts";
import { DeferredOutput } from "./deferred-output.ts";

/** Lines above the screen. */
export const SCROLLBACK = 10_000;
/** Bytes that the emulator has not processed yet, before a task has to wait. */
const MAX_PENDING = 1 << 17;
/** Rows of a screen. A larger one may lack lines of the scrollback. */
const MAX_ROWS = 500;
/** Bytes that wait outside of the emulator. */
const MAX_HELD = 1 << 21;

export interface PaneOptions {
  readonly columns: number;
  readonly rows: number;
  /** Without a terminal, a line feed also returns to the first column. */
  readonly hasTerminal: boolean;
  /** Receives the emulator's answers to requests of the task, such as the position of the cursor. */
  onReply(text: string): void;
}

export class Pane {
  readonly #terminal: Terminal;
  readonly #held: DeferredOutput;
  #pending = 0;
  /** The first line of the view, if it is not at the end. */
  #place: IMarker | undefined;
  /** The line that was found last. */
  #found: IMarker | undefined;

  constructor({ columns, rows, hasTerminal, onReply }: PaneOptions) {
    this.#terminal = new Terminal({
      cols: columns,
      rows,
      scrollback: SCROLLBACK,
      allowProposedApi: true,
      convertEol: !hasTerminal,
      logLevel: "off",
    });
    this.#terminal.onData(onReply);
    this.#held = new DeferredOutput({ keptLines: SCROLLBACK + 2 * MAX_ROWS, convertsEol: !hasTerminal });
  }

  write(bytes: Uint8Array): void | Promise<void> {
    this.#held.add(bytes);
    if (!this.#held.isUnsuitable && this.#held.length <= MAX_HELD) return;
    const processed = this.flush();
    if (this.#pending > MAX_PENDING) return processed;
  }

  /** Bytes that the emulator has not got yet. */
  get heldBytes(): number {
    return this.#held.length;
  }

  /** Whether all output is in the cells. */
  get isCurrent(): boolean {
    return this.#pending === 0 && this.#held.length === 0;
  }

  /** Passes the held output to the emulator. Resolves when all output up to now is in the cells. */
  flush(): Promise<void> {
    const { length } = this.#held;
    this.#pending += length;
    return new Promise((resolve) => {
      this.#terminal.write(this.#held.take(), () => {
        this.#pending -= length;
        resolve();
      });
    });
  }

  resize(columns: number, rows: number): void {
    if (columns !== this.#terminal.cols || rows !== this.#terminal.rows) this.#terminal.resize(columns, rows);
  }

  /** Number of lines up to the last one that is not blank. */
  get lineCount(): number {
    const buffer = this.#terminal.buffer.active;
    let last = buffer.length - 1;
    while (last > buffer.baseY + buffer.cursorY && isBlank(buffer.getLine(last))) last -= 1;
    return isBlank(buffer.getLine(last)) && last > 0 ? last : last + 1;
  }

  /** Whether the program uses the alternate screen, as an editor does. */
  get isFullScreen(): boolean {
    return this.#terminal.buffer.active.type === "alternate";
  }

  /** Column and row of the cursor on the screen, from 0. */
  get cursor(): { readonly x: number; readonly y: number } {
    const { cursorX, cursorY } = this.#terminal.buffer.active;
    return { x: cursorX, y: cursorY };
  }

  /** The first line of the screen, below the scrollback. */
  get screenTop(): number {
    return this.#terminal.buffer.active.baseY;
  }

  /** The first line of the view, for a distance from the end. */
  topOf(scroll: number, height: number): number {
    const { baseY } = this.#terminal.buffer.active;
    const end = this.isFullScreen ? baseY + this.#terminal.rows : Math.max(this.lineCount, height);
    return Math.max(end - height - scroll, 0);
  }

  /**
   * Keeps the view on its lines while output is added below them.
   * @param scroll distance from the end, which has changed since the last call only if `isNew`
   * @returns the distance from the current end
   */
  keepPlace(scroll: number, height: number, isNew: boolean): number {
    const end = this.topOf(0, height);
    const kept = scroll > 0 && !isNew && this.#place ? end - Math.max(this.#place.line, 0) : scroll;
    const next = Math.min(Math.max(kept, 0), this.maxScroll(height));
    if (isNew) {
      this.#place?.dispose();
      this.#place = next > 0 ? this.#mark(end - next) : undefined;
    }
    return next;
  }

  /** Returns a reference to a line, which follows it while lines above it leave the scrollback. */
  #mark(line: number): IMarker | undefined {
    const { baseY, cursorY } = this.#terminal.buffer.active;
    return this.#terminal.registerMarker(line - baseY - cursorY);
  }

  maxScroll(height: number): number {
    return this.isFullScreen ? 0 : Math.max(this.lineCount - height, 0);
  }

  /** Renders lines from `top` on. @param search text that is highlighted if there are colours */
  lines(top: number, count: number, useColor: boolean, search = ""): string[] {
    const buffer = this.#terminal.buffer.active;
    const cell = buffer.getNullCell();
    return Array.from({ length: count }, (_, at) => {
      const line = buffer.getLine(top + at);
      return line ? renderLine(line, cell, useColor, search.toLowerCase()) : "";
    });
  }

  /** All lines, where those that were wrapped are joined. */
  allLines(useColor: boolean): string[] {
    const buffer = this.#terminal.buffer.active;
    const joined: string[] = [];
    for (const [at, text] of this.lines(0, this.lineCount, useColor).entries()) {
      if (buffer.getLine(at)?.isWrapped && joined.length > 0) joined[joined.length - 1] += text;
      else joined.push(text);
    }
    return joined;
  }

  /**
   * Returns the nearest line that contains the text, in any case.
   * @param isNew whether the search begins at the end, and not at the line that was found last
   */
  find(text: string, direction: "up" | "down", isNew: boolean): number | undefined {
    const buffer = this.#terminal.buffer.active;
    const wanted = text.toLowerCase();
    const step = direction === "up" ? -1 : 1;
    const last = isNew ? -1 : (this.#found?.line ?? -1);
    for (let at = last < 0 ? this.lineCount - 1 : last + step; at >= 0 && at < buffer.length; at += step) {
      if (!buffer.getLine(at)!.translateToString(true).toLowerCase().includes(wanted)) continue;
      this.#found?.dispose();
      this.#found = this.#mark(at);
      return at;
    }
    return undefined;
  }

  close(): void {
    this.#terminal.dispose();
  }
}

function isBlank(line: IBufferLine | undefined): boolean {
  return !line || line.translateToString(true) === "";
}
