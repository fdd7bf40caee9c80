// Keeps the end of a service's output, for messages, and finds a text in it.
//
// Invariants: escape sequences do not count, also if a chunk ends within one.

const MAX_KEPT = 1 << 14; // bytes
const MAX_LINES = 10;

export class OutputTail {
  #kept = "";
  readonly #decoder = new TextDecoder();
  readonly #text: string | undefined;
  #isFound = false;
  #wake = () => {};

  /** @param text the text to find */
  constructor(text?: string) {
    this.#text = text;
  }

  /** Whether the text has been in the output since `begin`. */
  get isFound(): boolean {
    return this.#isFound;
  }

  /** Forgets the output of an earlier start. */
  begin(): void {
    this.#kept = "";
    this.#isFound = false;
  }

  append(bytes: Uint8Array): void {
    const all = this.#kept + this.#decoder.decode(bytes, { stream: true });
    if (this.#text !== undefined && !this.#isFound && Bun.stripANSI(all).includes(this.#text)) {
      this.#isFound = true;
      this.#wake();
    }
    this.#kept = all.slice(-MAX_KEPT);
  }

  /** Resolves when the text is found. */
  awaitText(): Promise<void> {
    return this.#isFound ? Promise.resolve() : new Promise((resolve) => (this.#wake = resolve));
  }

  lines(): string[] {
    const lines = Bun.stripANSI(this.#kept).split(/\r?\n|\r/);
    return lines.filter((line) => line.trim() !== "").slice(-MAX_LINES);
  }
}
