// Keeps the last lines of a byte stream as a terminal would show them, and counts all lines.
//
// Invariants:
// - Memory is bounded, also for an endless line.
// - Text after the last CR replaces the line (progress bars). Colours are kept; other control sequences and tabs
//   are not.

const NEWLINE = 10;
const MAX_LINE_LENGTH = 4096; // bytes kept of a line, more than any terminal is wide

export class LastLines {
  readonly #limit: number;
  #lines: Uint8Array[] = [];
  #open = new Uint8Array(0);
  #complete = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Number of lines so far, including an unfinished one. */
  get total(): number {
    return this.#complete + (this.#open.length > 0 ? 1 : 0);
  }

  append(bytes: Uint8Array): void {
    const breaks: number[] = []; // the last ones, from the end
    let count = 0;
    for (let index = bytes.length - 1; index >= 0; index--) {
      if (bytes[index] !== NEWLINE) continue;
      count++;
      if (breaks.length <= this.#limit) breaks.push(index);
    }
    if (count === 0) {
      this.#open = keepEnd(joined(this.#open, bytes));
      return;
    }
    this.#complete += count;
    for (let index = Math.min(breaks.length, this.#limit) - 1; index >= 0; index--) {
      const before = breaks[index + 1];
      const line = bytes.slice(before === undefined ? 0 : before + 1, breaks[index]);
      this.#lines.push(keepEnd(before === undefined ? joined(this.#open, line) : line));
    }
    if (this.#lines.length > this.#limit) this.#lines = this.#lines.slice(-this.#limit);
    this.#open = keepEnd(bytes.slice(breaks[0]! + 1));
  }

  all(): string[] {
    const lines = this.#open.length > 0 ? [...this.#lines, this.#open].slice(-this.#limit) : this.#lines;
    return lines.map((line) => displayLine(decoder.decode(line)));
  }
}

const decoder = new TextDecoder();
const CONTROL_SEQUENCES =
  /\x1b(?:\[[0-?]*[ -/]*[@-ln-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[ -/]*[0-Z\\^-~])/g;
const COLOR = /(\x1b\[[\d;:]*m)/;

/** Pure. Returns the visible text of a line. */
export function displayLine(line: string): string {
  const ended = line.endsWith("\r") ? line.slice(0, -1) : line;
  const visible = ended.slice(ended.lastIndexOf("\r") + 1).replace(CONTROL_SEQUENCES, "");
  const parts = visible.replaceAll("\t", "    ").split(COLOR); // colours at the odd positions
  return parts
    .map((part, index) => (index % 2 === 1 ? part : part.replace(/[\x00-\x1f\x7f-\x9f]/g, "")))
    .join("");
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const result = new Uint8Array(first.length + second.length);
  result.set(first);
  result.set(second, first.length);
  return result;
}

function keepEnd(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return bytes.length > MAX_LINE_LENGTH ? bytes.slice(-MAX_LINE_LENGTH) : bytes;
}
