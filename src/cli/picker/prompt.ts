// Implements the interactive picker on a terminal: type to search, Enter runs the script, Tab edits its arguments.
//
// Invariants:
// - It draws on standard error, within the terminal's width, and restores the terminal mode, also after a signal.
// - The caller has escaped names and commands.
import { isCancel, Prompt } from "@clack/core";
import type { Choice } from "./choices.ts";
import { search } from "./search.ts";
import { splitLine } from "./argument-splitter.ts";
import { report } from "../../output.ts";

const MAX_LISTED_CHOICES = 12;
/** Lines that are not part of the list. */
const FRAME = 5;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** Events of standard input after the terminal disconnected. */
const DISCONNECT_EVENTS = ["end", "close", "error"] as const;
const FALLBACK = { columns: 80, rows: 24 };

export interface PickerResult {
  readonly choice: Choice;
  /** Unsplit, with quotes. */
  readonly args: string;
}

export interface PromptOptions {
  readonly choices: readonly Choice[];
  readonly initialSearch: string;
  readonly useColor: boolean;
  /** Returns the equivalent command line. */
  describe(answer: PickerResult): string;
}

/** Returns undefined if the user cancelled, or the signal that arrived: SIGHUP if the terminal disconnected. */
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
  const onDisconnect = () => end("SIGHUP");
  const onResize = () => picker.redraw();
  for (const signal of SIGNALS) process.on(signal, end);
  for (const event of DISCONNECT_EVENTS) stdin.on(event, onDisconnect);
  stderr.on("resize", onResize);
  try {
    const answer = await Promise.race([picker.prompt(), ended.promise]);
    return isCancel(answer) ? undefined : answer;
  } finally {
    for (const signal of SIGNALS) process.off(signal, end);
    for (const event of DISCONNECT_EVENTS) stdin.off(event, onDisconnect);
    stderr.off("resize", onResize);
    stdin.pause().unref();
  }
}

class Picker extends Prompt<PickerResult> {
  readonly #options: PromptOptions;
  #matches: readonly Choice[];
  #at = 0;
  /** The search text while the arguments are edited; undefined during the search. */
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
    this.#matches = options.choices;
    this.on("userInput", (text) => this.#onInput(text));
    this.on("cursor", (key) => {
      if (key === "up") this.#move(-1);
      if (key === "down") this.#move(1);
    });
    this.on("key", (_, { name, ctrl }) => {
      if (name === "tab") this.#switch();
      else if (name === "pageup") this.#move(-MAX_LISTED_CHOICES);
      else if (name === "pagedown") this.#move(MAX_LISTED_CHOICES);
      else if (ctrl && name === "d") this.state = "cancel";
    });
    this.on("finalize", () => (this.value = this.#answer));
  }

  /** Cancels the prompt and restores the terminal mode. */
  leave(): void {
    try {
      this.state = "cancel";
      this.close();
    } catch {
      // The terminal no longer exists, so there is no mode to restore.
    }
  }

  /**
   * Clears the screen, so that the library draws the whole frame. Must run before the library handles the resize: the terminal
   * has re-wrapped the previous frame, whose position is unknown. The library offers no public way to reset its frame.
   */
  redraw(): void {
    report("\x1b[2J\x1b[H");
    (this as unknown as { _prevFrame: string })._prevFrame = "";
  }

  /** Ignores Enter without a match or with an unclosed quote. */
  protected override _shouldSubmit(): boolean {
    const answer = this.#answer;
    if (answer !== undefined && splitLine(answer.args) !== undefined) return true;
    // readline clears its line at Enter, so the text is restored.
    this._setUserInput(this.userInput, true);
    return false;
  }

  get #answer(): PickerResult | undefined {
    const choice = this.#matches[this.#at];
    if (!choice) return undefined;
    return { choice, args: this.#search === undefined ? "" : this.userInput };
  }

  #onInput(text: string): void {
    if (this.#search !== undefined) return;
    const matches = search(this.#options.choices, text);
    const isUnchanged =
      matches.length === this.#matches.length &&
      matches.every((each, index) => each === this.#matches[index]);
    if (!isUnchanged) this.#at = 0;
    this.#matches = matches;
  }

  #move(by: number): void {
    if (this.#search !== undefined) return;
    this.#at = Math.max(0, Math.min(this.#at + by, this.#matches.length - 1));
  }

  /** Switches between the search and the arguments, which begin as those of the last pick. */
  #switch(): void {
    const choice = this.#matches[this.#at];
    if (!choice) return;
    const [next, saved] =
      this.#search === undefined ? [choice.args, this.userInput] : [this.#search, undefined];
    // Setting #search makes #onInput ignore the two changes below.
    this.#search = saved ?? "";
    this._clearUserInput();
    this._setUserInput(next, true);
    this.#search = saved;
    if (saved === undefined) this.#onInput(next);
  }

  #draw(): string {
    if (this.state === "submit" || this.state === "cancel") return "";
    // oxlint-disable-next-line typescript/no-useless-default-assignment -- a stream that is not a terminal has no size
    const { columns = FALLBACK.columns, rows = FALLBACK.rows } = process.stderr;
    const clip = (text: string) => Bun.sliceAnsi(text, 0, Math.max(1, columns - 1), "…");
    const line = this.#isEditing ? `Arguments: ${this.#input}` : `Run a script: ${this.#input}`;
    const answer = this.#answer;
    const below = answer
      ? [this.#paint(36, `$ ${this.#options.describe(answer)}`), this.#paint(2, `  ${answer.choice.command}`)]
      : ["No script matches", ""];
    if (answer && splitLine(answer.args) === undefined) below[1] = "Unclosed quote";
    return [line, ...this.#drawList(rows), ...below, this.#hint].map(clip).join("\n");
  }

  get #isEditing(): boolean {
    return this.#search !== undefined;
  }

  get #hint(): string {
    const { choices } = this.#options;
    const keys = this.#isEditing
      ? "Enter: run, Tab: back to the search, Esc: exit"
      : "Up/Down: choose, Enter: run, Tab: edit arguments, Esc: exit";
    return this.#paint(2, `${keys} (${this.#matches.length} of ${choices.length})`);
  }

  /** Returns the part of the list around the selected choice. */
  #drawList(rows: number): string[] {
    const height = Math.max(1, Math.min(MAX_LISTED_CHOICES, rows - FRAME));
    const start = Math.max(0, Math.min(this.#at - Math.floor(height / 2), this.#matches.length - height));
    return this.#matches.slice(start, start + height).map((choice, index) => {
      const isChosen = start + index === this.#at;
      const label = isChosen ? this.#paint(1, choice.label) : choice.label;
      return `${isChosen ? ">" : " "} ${label}  ${this.#paint(2, choice.command)}`;
    });
  }

  /** Returns the input with `_` at the cursor. */
  get #input(): string {
    const shown = (text: string) => text.replace(/[\0-\x1f\x7f-\x9f]/g, "?");
    const [before, after] = [this.userInput.slice(0, this._cursor), this.userInput.slice(this._cursor)];
    return `${shown(before)}_${shown(after)}`;
  }

  #paint(code: number, text: string): string {
    return this.#options.useColor ? `\x1b[${code}m${text}\x1b[0m` : text;
  }
}
