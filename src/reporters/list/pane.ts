// The output of one task in a terminal emulator (@xterm/headless), with its scrollback.
//
// Invariants:
// - Text leaves the emulator as cells only: no title, clipboard or other control sequence of a task reaches the
//   terminal. Bidirectional controls inside a cell are removed.
// - Memory is bounded: the scrollback is, and `write` returns a promise while the emulator has much to do.
import { type IBufferCell, type IBufferLine, Terminal } from "@xterm/headless";

/** Lines above the screen. */
export const SCROLLBACK = 10_000;
/** Bytes that the emulator has not processed yet, before a task has to wait. */
const MAX_PENDING = 1 << 17;

/** Characters that a terminal may interpret, or that reorder others. */
const UNSAFE = /[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]|\p{Bidi_Control}|\p{Surrogate}/gu;

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
  #pending = 0;

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
  }

  write(bytes: Uint8Array): void | Promise<void> {
    const { length } = bytes;
    this.#pending += length;
    const written = Promise.withResolvers<void>();
    this.#terminal.write(bytes.slice(), () => {
      this.#pending -= length;
      written.resolve();
    });
    if (this.#pending > MAX_PENDING) return written.promise;
  }

  /** Resolves when all output is in the cells. */
  flush(): Promise<void> {
    return new Promise((resolve) => this.#terminal.write("", resolve));
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

  /** Whether the program draws a screen of its own, as an editor does. */
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

  maxScroll(height: number): number {
    return this.isFullScreen ? 0 : Math.max(this.lineCount - height, 0);
  }

  /** `count` lines from `top` on, with colours or without. */
  lines(top: number, count: number, useColor: boolean): string[] {
    const buffer = this.#terminal.buffer.active;
    const cell = buffer.getNullCell();
    return Array.from({ length: count }, (_, at) => {
      const line = buffer.getLine(top + at);
      return line ? renderLine(line, cell, useColor) : "";
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

  /** The nearest line above or below `from` that contains the text, in any case. */
  find(text: string, from: number, direction: "up" | "down"): number | undefined {
    const buffer = this.#terminal.buffer.active;
    const wanted = text.toLowerCase();
    const step = direction === "up" ? -1 : 1;
    for (let at = from; at >= 0 && at < buffer.length; at += step)
      if (buffer.getLine(at)!.translateToString(true).toLowerCase().includes(wanted)) return at;
    return undefined;
  }

  close(): void {
    this.#terminal.dispose();
  }
}

function isBlank(line: IBufferLine | undefined): boolean {
  return !line || line.translateToString(true) === "";
}

function renderLine(line: IBufferLine, cell: IBufferCell, useColor: boolean): string {
  let text = "";
  let style = "";
  let trailing = "";
  for (let column = 0; column < line.length; column += 1) {
    line.getCell(column, cell);
    if (cell.getWidth() === 0) continue;
    const characters = cell.getChars();
    const next = useColor ? styleOf(cell) : "";
    if (characters === "" && next === "") {
      trailing += " ";
      continue;
    }
    if (style !== "" && trailing !== "") text += "\x1b[0m";
    if (trailing !== "" && style !== "") style = "";
    text += trailing;
    trailing = "";
    if (next !== style) text += `\x1b[0${next}m`;
    style = next;
    text += characters === "" ? " " : safe(characters);
  }
  return style === "" ? text : `${text}\x1b[0m`;
}

function safe(characters: string): string {
  if (characters.length === 1 && characters >= " " && characters <= "~") return characters;
  return characters.replace(UNSAFE, "") || " ";
}

/** Parameters of SGR, each with a semicolon before it. */
function styleOf(cell: IBufferCell): string {
  if (cell.isAttributeDefault()) return "";
  let style = "";
  if (cell.isBold()) style += ";1";
  if (cell.isDim()) style += ";2";
  if (cell.isItalic()) style += ";3";
  if (cell.isUnderline()) style += ";4";
  if (cell.isInverse()) style += ";7";
  if (cell.isInvisible()) style += ";8";
  if (cell.isStrikethrough()) style += ";9";
  if (cell.isFgRGB()) style += `;38;2;${rgb(cell.getFgColor())}`;
  else if (cell.isFgPalette()) style += `;38;5;${cell.getFgColor()}`;
  if (cell.isBgRGB()) style += `;48;2;${rgb(cell.getBgColor())}`;
  else if (cell.isBgPalette()) style += `;48;5;${cell.getBgColor()}`;
  return style;
}

function rgb(color: number): string {
  return `${(color >> 16) & 255};${(color >> 8) & 255};${color & 255}`;
}
