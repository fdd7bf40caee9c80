// Shows a list of tasks and the output of the selected one (`--ui=list`). Connects the pure model and renderer with
// events, keys, emulators and the screen.
//
// Invariants:
// - At most MAX_FRAMES frames a second are drawn, none while the terminal accepts no output.
// - At the end, the normal screen gets the kept output of failed tasks, the last lines of stopped ones, and all
//   notices.
// - After a switch to the stream the prefix reporter gets every further event.
import { consoles } from "../../../platform/terminal/console.ts";
import type { Console } from "../../../platform/terminal/contract/console.ts";
import type { TerminalDimensions } from "../../../platform/processes/contract/process-tree.ts";
import { outputs } from "../../../platform/terminal/output.ts";
import { colorLabel } from "../../output.ts";
import { oneLine } from "../../printable.ts";
import { describeOutcome, isFailure, labelOf } from "../../tasks/labels.ts";
import type { OutputQueue } from "../../tasks/output-queue.ts";
import type { Reporter, TaskEvent } from "../../tasks/task-events.ts";
import type { ScriptTask, TaskOutcome } from "../../tasks/task.ts";
import { createPrefixReporter } from "../terminal/prefix-reporter.ts";
import { parseKeys } from "./key-parser.ts";
import { layoutList, type ListLayout, renderList } from "./list-frame.ts";
import {
  createListState,
  type EntryState,
  type ListChange,
  type ListEffect,
  type ListState,
  pressKey,
  typeInput,
  updateEntry,
} from "./list-model.ts";
import { ListScreen } from "./list-screen.ts";
import type { Pane } from "./pane.ts";
import { printKeptOutput } from "./printed-output.ts";
import { TaskPanes } from "./task-panes.ts";

export interface ListOptions {
  readonly tasks: readonly ScriptTask[];
  readonly queue: OutputQueue;
  readonly useColor: boolean;
  /** Whether the stream aligns labels, as with --parallel. */
  readonly isLabelled: boolean;
}

/** Restarts and stops tasks of the run. */
export interface TaskControl {
  restart(task: ScriptTask): void;
  stop(task: ScriptTask): void;
}

export interface ListReporter extends Reporter {
  /** The size of the terminals of tasks. */
  size(): TerminalDimensions;
  begin(control: TaskControl): void;
}

const MAX_FRAMES = 30;
/** Durations in the list are whole seconds. */
const TICK = 1000; // ms
/** Lines of a stopped task that are printed at the end. */
const LAST_LINES = 10;

/** Returns undefined if rt has no terminal for keys. */
export function openListReporter(options: ListOptions): ListReporter | undefined {
  const tty = consoles.openConsole({
    onKeys: (bytes) => reporter.pressKeys(bytes),
    onEnd: () => process.kill(process.pid, "SIGHUP"),
  });
  if (!tty) return undefined;
  const reporter = new RunList(options, new ListScreen(options.queue, tty), tty);
  return reporter;
}

class RunList implements ListReporter {
  readonly #options: ListOptions;
  readonly #screen: ListScreen;
  readonly #tty: Console;
  readonly #panes = new TaskPanes(() => this.size());
  readonly #outcomes = new Map<number, TaskOutcome>();
  readonly #notices: string[] = [];
  #state: ListState;
  #control: TaskControl | undefined;
  #stream: Reporter | undefined;
  #timer: Timer | undefined;
  #clock: Timer | undefined;
  /** Offset from the clock of the process to that of the run; undefined before the first event with a time. */
  #offset: number | undefined;
  #lastFrame = 0;
  /** The last match of the search. Lines move when the scrollback is full, so it may be a few lines off. */
  #found: { readonly entry: number; readonly line: number } | undefined;
  readonly #resized = () => this.#resize();

  constructor(options: ListOptions, screen: ListScreen, tty: Console) {
    this.#options = options;
    this.#screen = screen;
    this.#tty = tty;
    this.#state = createListState(options.tasks.map(labelOf));
    process.on("SIGWINCH", this.#resized);
  }

  size(): TerminalDimensions {
    const { width, height } = layoutList({ ...this.#state, mode: "list" }, terminalSize());
    return { columns: Math.max(width, 2), rows: Math.max(height, 1) };
  }

  /** Shows the list. From here on, signals end the run in an orderly way. */
  begin(control: TaskControl): void {
    this.#control = control;
    this.#enter();
  }

  report(event: TaskEvent): void | Promise<void> {
    if (this.#stream) return this.#stream.report(event);
    const pending = this.#apply(event);
    if (event.type !== "suspend") this.#requestFrame();
    return pending;
  }

  #apply(event: TaskEvent): void | Promise<void> {
    switch (event.type) {
      case "step-start": {
        const { task, terminal, at } = event;
        const entry = this.#state.entries[task.index];
        const isFirst = entry?.state !== "running";
        this.#offset ??= at - performance.now();
        this.#panes.begin(task.index, terminal, isFirst);
        const time = isFirst ? at : entry.time;
        const hasTerminal = terminal !== undefined;
        return this.#update(task.index, { state: "running", time, message: "", hasTerminal });
      }
      case "output":
        return this.#panes.write(event.task.index, event.bytes);
      case "step-end":
        return this.#panes.endInput(event.task.index);
      case "task-end": {
        const { task, outcome, duration } = event;
        this.#outcomes.set(task.index, outcome);
        this.#panes.endInput(task.index);
        const time = this.#state.entries[task.index]?.state === "waiting" ? undefined : duration;
        const message = describeOutcome(outcome);
        return this.#update(task.index, { state: stateOf(outcome), time, message, hasTerminal: false });
      }
      case "notice":
        return this.#addNotice(colorLabel(`warning: ${oneLine(event.message)}`), event.message);
      case "remark":
        return this.#addNotice(event.line, event.line);
      case "again":
        for (const { index } of event.tasks) {
          this.#outcomes.delete(index);
          this.#update(index, { state: "waiting", time: undefined, message: "restarting" });
        }
        return;
      case "interrupt":
        return void (this.#state = { ...this.#state, notice: `${event.signal}: ending all tasks` });
      case "suspend":
        return this.#leave();
      case "resume":
        return this.#enter();
    }
  }

  #addNotice(line: string, text: string): void {
    this.#notices.push(line);
    this.#state = { ...this.#state, notice: oneLine(Bun.stripANSI(text)) };
  }

  #update(index: number, changes: Parameters<typeof updateEntry>[2]): void {
    const { mode } = this.#state;
    this.#state = updateEntry(this.#state, index, changes);
    if (mode !== this.#state.mode) this.#setMode();
  }

  pressKeys(bytes: Uint8Array): void {
    if (!this.#screen.isActive) return;
    const before = this.#state;
    let rest = bytes;
    if (this.#state.mode === "input") {
      const typed = typeInput(this.#state, bytes);
      this.#change(typed);
      rest = typed.rest;
    }
    for (const key of rest.length > 0 ? parseKeys(rest) : []) {
      const { height } = this.#outputLayout();
      const maxScroll = this.#panes.get(this.#state.selected)?.maxScroll(height) ?? 0;
      this.#change(pressKey(this.#state, key, { height, maxScroll }));
    }
    if (before.mode !== this.#state.mode) {
      this.#setMode();
      this.#screen.clear();
    }
    this.#draw();
  }

  #change({ state, effect }: ListChange): void {
    this.#state = state;
    if (effect) this.#carryOut(effect);
  }

  #carryOut(effect: ListEffect): void {
    switch (effect.type) {
      case "restart":
        return this.#control?.restart(this.#options.tasks[effect.entry]!);
      case "stop":
        return this.#control?.stop(this.#options.tasks[effect.entry]!);
      case "input":
        return this.#panes.type(effect.entry, effect.bytes);
      case "find":
        return this.#find(effect);
      case "quit":
        return void process.kill(process.pid, "SIGINT");
      case "stream":
        return this.#switchToStream();
    }
  }

  #find({ direction, isNew }: Extract<ListEffect, { type: "find" }>): void {
    const { search, selected } = this.#state;
    const pane = this.#panes.get(selected);
    if (!pane || search === "") return;
    const isFirst = isNew || this.#found?.entry !== selected;
    const from = isFirst ? pane.lineCount - 1 : this.#found!.line + (direction === "up" ? -1 : 1);
    const line = pane.find(search, from, direction);
    if (line === undefined) {
      this.#state = { ...this.#state, notice: oneLine(`no further "${search}"`) };
      return;
    }
    this.#found = { entry: selected, line };
    const { height } = this.#outputLayout();
    const scroll = Math.max(pane.topOf(0, height) - line, 0);
    this.#state = { ...this.#state, scroll, notice: `found in line ${line + 1} of ${pane.lineCount}` };
  }

  #setMode(): void {
    if (this.#screen.isActive) this.#tty.setMode(this.#state.mode === "input" ? "raw" : "keys");
  }

  #outputLayout(): ListLayout {
    return layoutList(this.#state, terminalSize());
  }

  #resize(): void {
    if (this.#stream) return;
    this.#screen.clear();
    this.#panes.resize();
    this.#requestFrame();
  }

  #requestFrame(): void {
    if (!this.#screen.isActive || this.#state.mode === "copy") return;
    const wait = Math.max(1000 / MAX_FRAMES - (performance.now() - this.#lastFrame), 0);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.#options.queue.isHeldUp) this.#requestFrame();
      else this.#draw();
    }, wait);
  }

  #draw(): void {
    if (!this.#screen.isActive) return;
    this.#lastFrame = performance.now();
    const size = terminalSize();
    const layout = layoutList(this.#state, size);
    const pane = this.#panes.get(this.#state.selected);
    const { useColor } = this.#options;
    const maxScroll = pane?.maxScroll(layout.height) ?? 0;
    if (this.#state.scroll > maxScroll) this.#state = { ...this.#state, scroll: maxScroll };
    const top = pane?.topOf(this.#state.scroll, layout.height) ?? 0;
    const output = pane?.lines(top, layout.height, useColor) ?? [];
    const now = performance.now() + (this.#offset ?? 0);
    const rows = renderList(this.#state, size, { output, now, useColor });
    this.#screen.draw(
      rows,
      pane && this.#state.mode === "input" ? this.#cursorOn(pane, layout, top) : undefined,
    );
  }

  #cursorOn(pane: Pane, layout: ListLayout, top: number): { x: number; y: number } {
    const y = pane.screenTop - top + pane.cursor.y;
    return { x: layout.left + pane.cursor.x, y: layout.top + Math.min(Math.max(y, 0), layout.height - 1) };
  }

  #enter(): void {
    if (this.#stream) return;
    this.#screen.enter();
    this.#setMode();
    this.#clock ??= setInterval(() => this.#requestFrame(), TICK);
    this.#resize();
  }

  #leave(): void {
    clearTimeout(this.#timer);
    clearInterval(this.#clock);
    this.#timer = this.#clock = undefined;
    this.#screen.leave();
  }

  #switchToStream(): void {
    const { tasks, queue, useColor, isLabelled } = this.#options;
    this.#leave();
    this.#printNotices();
    for (const task of tasks) this.#printOutput(task, LAST_LINES);
    const style = isLabelled ? "label" : "script";
    this.#stream = createPrefixReporter({ style, tasks, queue, useColor, passCommands: false });
    this.#close();
  }

  #printNotices(): void {
    for (const line of this.#notices.splice(0)) void this.#options.queue.write(2, `${line}\n`);
  }

  #printOutput(task: ScriptTask, most: number): void {
    const { queue, useColor } = this.#options;
    printKeptOutput(queue, this.#panes.get(task.index), { label: labelOf(task), most, useColor });
  }

  #close(): void {
    process.off("SIGWINCH", this.#resized);
    this.#tty.close();
    this.#panes.close();
  }

  async finish(): Promise<void | boolean> {
    if (this.#stream) return await this.#stream.finish();
    await this.#panes.flush();
    this.#leave();
    this.#printNotices();
    for (const task of this.#options.tasks) {
      const outcome = this.#outcomes.get(task.index);
      if (outcome && isFailure(outcome)) this.#printOutput(task, Number.POSITIVE_INFINITY);
      else if (outcome?.kind === "stopped") this.#printOutput(task, LAST_LINES);
    }
    this.#close();
  }
}

function stateOf({ kind }: TaskOutcome): EntryState {
  if (kind === "success") return "succeeded";
  return kind === "skipped" || kind === "stopped" ? kind : "failed";
}

function terminalSize(): { columns: number; rows: number } {
  return outputs.terminalSize() ?? { columns: 80, rows: 24 };
}
