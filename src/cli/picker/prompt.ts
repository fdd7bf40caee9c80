// The picker on a terminal: type to search, see what would run, Enter runs it, Tab edits its arguments.
//
// Contract: it draws on standard error, within the terminal's width, and leaves the terminal as it was, also when a signal
// ends it. Names and commands are fit to be shown when they come here.
import { isCancel, Prompt } from "@clack/core";
import type { Choice } from "./choices.ts";
import { search } from "./search.ts";
import { splitLine } from "./argument-splitter.ts";
import { report } from "../../output.ts";

const MOST_SHOWN = 12;
/** Lines besides the list. */
const FRAME = 5;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** What standard input says then. */
const GONE = ["end", "close", "error"] as const;
const FALLBACK = { columns: 80, rows: 24 };

export interface PickerResult {
  readonly choice: Choice;
  /** As they were written. */
  readonly args: string;
}

export interface PromptOptions {
  readonly choices: readonly Choice[];
  readonly initialSearch: string;
  readonly useColor: boolean;
  /** As it would be typed. */
  describe(answer: PickerResult): string;
}

/** Undefined when it was left without a choice; a signal when one came, or the terminal went away. */
export async function askOnTerminal(
  options: PromptOptions,
): Promise<PickerResult | NodeJS.Signals | undefined> {
  const picker = new Picker(options);
  const { stdin, stderr } = process;
  const ended = Promise.withResolvers<NodeJS.Signals>();
  const end = (signal: NodeJS.Signals) => {
    ended.resolve(signal);
    picker.leave();
  };
  const onGone = () => end("SIGHUP");
  const onResize = () => picker.drawAnew();
  for (const signal of SIGNALS) process.on(signal, end);
  for (const event of GONE) stdin.on(event, onGone);
  stderr.on("resize", onResize);
  try {
    const answer = await Promise.race([picker.prompt(), ended.promise]);
    return isCancel(answer) ? undefined : answer;
  } finally {
    for (const signal of SIGNALS) process.off(signal, end);
    for (const event of GONE) stdin.off(event, onGone);
    stderr.off("resize", onResize);
    stdin.pause().unref();
  }
}

class Picker extends Prompt<PickerResult> {
  readonly #options: PromptOptions;
  #found: readonly Choice[];
  #at = 0;
  /** What is searched for, while arguments are edited. */
  #search: string | undefined;

  constructor(options: PromptOptions) {
    const draw = () => this.#draw();
    super(
      {
        render: draw,
        output: process.stderr,
        initialUserInput: options.initialSearch,
        accessible: false,
      },
      true,
    );
    this.#options = options;
    this.#found = options.choices;
    this.on("userInput", (text) => this.#onInput(text));
    this.on("cursor", (key) => {
      if (key === "up") this.#move(-1);
      if (key === "down") this.#move(1);
    });
    this.on("key", (_, { name, ctrl }) => {
      if (name === "tab") this.#switch();
      else if (name === "pageup") this.#move(-MOST_SHOWN);
      else if (name === "pagedown") this.#move(MOST_SHOWN);
      else if (ctrl && name === "d") this.state = "cancel";
    });
    this.on("finalize", () => (this.value = this.#answer));
  }

  /** With the terminal as it was, where there still is one. */
  leave(): void {
    try {
      this.state = "cancel";
      this.close();
    } catch {
      // Its modes have gone with it.
    }
  }

  /**
   * To be called before the library hears of another size: where what was drawn is by now, only the terminal knows. Its own
   * memory of that is not for others, but there is no other way.
   */
  drawAnew(): void {
    report("\x1b[2J\x1b[H");
    (this as unknown as { _prevFrame: string })._prevFrame = "";
  }

  /** Enter does nothing where there is nothing to run. */
  protected override _shouldSubmit(): boolean {
    const answer = this.#answer;
    if (answer !== undefined && splitLine(answer.args) !== undefined) return true;
    // The line has forgotten what was written, as lines do at Enter.
    this._setUserInput(this.userInput, true);
    return false;
  }

  get #answer(): PickerResult | undefined {
    const choice = this.#found[this.#at];
    if (!choice) return undefined;
    return { choice, args: this.#search === undefined ? "" : this.userInput };
  }

  #onInput(text: string): void {
    if (this.#search !== undefined) return;
    const found = search(this.#options.choices, text);
    if (found.length !== this.#found.length || found.some((each, index) => each !== this.#found[index]))
      this.#at = 0;
    this.#found = found;
  }

  #move(by: number): void {
    if (this.#search !== undefined) return;
    this.#at = Math.max(0, Math.min(this.#at + by, this.#found.length - 1));
  }

  /** From the search to the arguments, those of last time at first, and back. */
  #switch(): void {
    const choice = this.#found[this.#at];
    if (!choice) return;
    const [next, kept] =
      this.#search === undefined ? [choice.args, this.userInput] : [this.#search, undefined];
    // What is written now is neither a search nor arguments until it has changed places.
    this.#search = kept ?? "";
    this._clearUserInput();
    this._setUserInput(next, true);
    this.#search = kept;
    if (kept === undefined) this.#onInput(next);
  }

  #draw(): string {
    if (this.state === "submit" || this.state === "cancel") return "";
    const { columns = FALLBACK.columns, rows = FALLBACK.rows } = process.stderr;
    const clip = (text: string) => Bun.sliceAnsi(text, 0, Math.max(1, columns - 1), "…");
    const line = this.#isEditing ? `Arguments: ${this.#input}` : `Run a script: ${this.#input}`;
    const answer = this.#answer;
    const below = answer
      ? [this.#paint(36, `$ ${this.#options.describe(answer)}`), this.#paint(2, `  ${answer.choice.command}`)]
      : ["No script is called so", ""];
    if (answer && splitLine(answer.args) === undefined) below[1] = "A quote is not closed";
    return [line, ...this.#drawList(rows), ...below, this.#hint].map(clip).join("\n");
  }

  get #isEditing(): boolean {
    return this.#search !== undefined;
  }

  get #hint(): string {
    const { choices } = this.#options;
    const keys = this.#isEditing
      ? "Enter runs, Tab goes back, Esc leaves"
      : "Up/Down choose, Enter runs, Tab adds arguments, Esc leaves";
    return this.#paint(2, `${keys} (${this.#found.length} of ${choices.length})`);
  }

  /** A window of it that has the chosen one. */
  #drawList(rows: number): string[] {
    const most = Math.max(1, Math.min(MOST_SHOWN, rows - FRAME));
    const start = Math.max(0, Math.min(this.#at - Math.floor(most / 2), this.#found.length - most));
    return this.#found.slice(start, start + most).map((choice, index) => {
      const isChosen = start + index === this.#at;
      const label = isChosen ? this.#paint(1, choice.label) : choice.label;
      return `${isChosen ? ">" : " "} ${label}  ${this.#paint(2, choice.command)}`;
    });
  }

  /** The line with a mark where the next letter goes. */
  get #input(): string {
    const shown = (text: string) => text.replace(/[\0-\x1f\x7f-\x9f]/g, "?");
    const [before, after] = [this.userInput.slice(0, this._cursor), this.userInput.slice(this._cursor)];
    return `${shown(before)}_${shown(after)}`;
  }

  #paint(code: number, text: string): string {
    return this.#options.useColor ? `\x1b[${code}m${text}\x1b[0m` : text;
  }
}
