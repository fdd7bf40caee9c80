// Shows a list of tasks and the output of the selected one (`--ui=list`). Connects the pure model and the renderer with
// events, keys and emulators.
//
// Invariants:
// - No frame is drawn while the terminal accepts no output.
// - At the end, the normal screen gets the kept output of failed tasks, the last lines of stopped ones, and all
//   notices.
// - After a switch to the stream the prefix reporter gets every further event.
import { consoles } from "../../../platform/terminal/console.ts";
import type { Console } from "../../../platform/terminal/contract/console.ts";
import type { TerminalDimensions } from "../../../platform/processes/contract/process-tree.ts";
import { colorLabel } from "../../output.ts";
import { oneLine } from "../../printable.ts";
import { describeOutcome, isFailure, labelOf } from "../../tasks/labels.ts";
import type { OutputQueue } from "../../tasks/output-queue.ts";
import type { Reporter, TaskEvent } from "../../tasks/task-events.ts";
import type { ScriptTask, TaskOutcome } from "../../tasks/task.ts";
import { createPrefixReporter } from "../terminal/prefix-reporter.ts";
import { FrameTimer } from "./frame-timer.ts";
import { parseKeys } from "./key-parser.ts";
import type { ListReporter, TaskControl } from "./list-contract.ts";
import {
  createListState,
  isRunning,
  type ListChange,
  type ListEffect,
  type ListState,
  pressKey,
  stateOf,
  typeInput,
  updateEntry,
} from "./list-model.ts";
import { ListScreen } from "./list-screen.ts";
import { currentLayout, ListRenderer } from "./list-renderer.ts";
import { printKeptOutput } from "./printed-output.ts";
import { TaskPanes } from "./task-panes.ts";

export interface ListOptions {
  readonly tasks: readonly ScriptTask[];
  readonly queue: OutputQueue;
  readonly useColor: boolean;
  /** Whether the stream aligns labels, as with --parallel. */
  readonly isLabelled: boolean;
}

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
  readonly #renderer: ListRenderer;
  readonly #outcomes = new Map<number, TaskOutcome>();
  readonly #notices: string[] = [];
  #state: ListState;
  #control: TaskControl | undefined;
  #stream: Reporter | undefined;
  readonly #frames = new FrameTimer(() => this.#refresh());
  #clock: Timer | undefined;
  /** Offset from the clock of the process to that of the run; undefined before the first event with a time. */
  #offset: number | undefined;
  /** Events during the switch to the stream. */
  #heldEvents: TaskEvent[] = [];
  #switch: Promise<void> | undefined;
  readonly #resized = () => this.#resize();

  constructor(options: ListOptions, screen: ListScreen, tty: Console) {
    this.#options = options;
    this.#screen = screen;
    this.#renderer = new ListRenderer(screen, this.#panes, options.useColor);
    this.#tty = tty;
    this.#state = createListState(options.tasks.map(labelOf));
    process.on("SIGWINCH", this.#resized);
  }

  size(): TerminalDimensions {
    const { width, height } = currentLayout({ ...this.#state, mode: "list" });
    return { columns: Math.max(width, 2), rows: Math.max(height, 1) };
  }

  /** Shows the list. From here on, signals end the run in an orderly way. */
  begin(control: TaskControl): void {
    this.#control = control;
    this.#enter();
  }

  report(event: TaskEvent): void | Promise<void> {
    if (this.#stream) return this.#stream.report(event);
    if (this.#switch) {
      const copy = event.type === "output" ? { ...event, bytes: event.bytes.slice() } : event;
      this.#heldEvents.push(copy);
      return this.#switch;
    }
    const pending = this.#apply(event);
    if (event.type !== "suspend") this.#requestFrame();
    return pending;
  }

  #apply(event: TaskEvent): void | Promise<void> {
    switch (event.type) {
      case "step-start": {
        const { task, terminal, at } = event;
        const entry = this.#state.entries[task.index];
        const isFirst = entry === undefined || !isRunning(entry.state);
        // The event arrives after the time that it names, so the least delay is right.
        this.#offset = Math.max(at - performance.now(), this.#offset ?? Number.NEGATIVE_INFINITY);
        this.#panes.begin(task.index, terminal, isFirst);
        const time = isFirst ? at : entry.time;
        const hasTerminal = terminal !== undefined;
        return this.#update(task.index, { state: "running", time, message: "", hasTerminal });
      }
      case "output":
        return this.#panes.write(event.task.index, event.bytes);
      case "step-end":
        return this.#panes.endInput(event.task.index);
      case "ready":
        return this.#update(event.task.index, { state: "ready", message: `Ready (${event.how})` });
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
    this.#state = this.#renderer.keepPlace(this.#state);
    const before = this.#state;
    let rest = bytes;
    if (this.#state.mode === "input") {
      const typed = typeInput(this.#state, bytes);
      this.#change(typed);
      rest = typed.rest;
    }
    for (const key of rest.length > 0 ? parseKeys(rest) : []) {
      const { height } = currentLayout(this.#state);
      const maxScroll = this.#panes.get(this.#state.selected)?.maxScroll(height) ?? 0;
      this.#change(pressKey(this.#state, key, { height, maxScroll }));
    }
    if (before.mode !== this.#state.mode) {
      this.#setMode();
      this.#screen.clear();
    }
    this.#drawNow();
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
        return void this.#find(effect);
      case "quit":
        return void process.kill(process.pid, "SIGINT");
      case "stream":
        this.#switch = this.#switchToStream();
        return;
    }
  }

  async #find({ direction, isNew }: Extract<ListEffect, { type: "find" }>): Promise<void> {
    const { search, selected } = this.#state;
    const pane = this.#panes.get(selected);
    if (!pane || search === "") return;
    await pane.flush();
    if (this.#state.selected !== selected || !this.#screen.isActive) return;
    this.#state = this.#renderer.keepPlace(this.#state);
    const line = pane.find(search, direction, isNew);
    if (line === undefined) this.#state = { ...this.#state, notice: oneLine(`no further "${search}"`) };
    else {
      const { height } = currentLayout(this.#state);
      const scroll = Math.max(pane.topOf(0, height) - line, 0);
      this.#state = { ...this.#state, scroll, notice: `found in line ${line + 1} of ${pane.lineCount}` };
    }
    this.#draw();
  }

  #setMode(): void {
    if (this.#screen.isActive) this.#tty.setMode(this.#state.mode === "input" ? "raw" : "keys");
  }

  #resize(): void {
    if (this.#stream) return;
    this.#screen.clear();
    this.#panes.resize();
    this.#requestFrame();
  }

  #requestFrame(): void {
    if (!this.#screen.isActive || this.#state.mode === "copy") return;
    this.#frames.request();
  }

  /** Draws all output up to now. */
  async #refresh(): Promise<void> {
    if (this.#options.queue.isHeldUp) return this.#requestFrame();
    await this.#panes.get(this.#state.selected)?.flush();
    this.#draw();
  }

  /** Draws without the emulator if it has no output to read. */
  #drawNow(): void {
    if (this.#panes.get(this.#state.selected)?.isCurrent ?? true) this.#draw();
    else void this.#frames.run();
  }

  #draw(): void {
    this.#state = this.#renderer.draw(this.#state, performance.now() + (this.#offset ?? 0));
  }

  #enter(): void {
    if (this.#stream) return;
    this.#screen.enter();
    this.#setMode();
    this.#clock ??= setInterval(() => this.#requestFrame(), TICK);
    this.#resize();
    // A short run may end before a frame that waits for the emulator.
    this.#drawNow();
  }

  #leave(): void {
    this.#frames.cancel();
    clearInterval(this.#clock);
    this.#clock = undefined;
    this.#screen.leave();
  }

  async #switchToStream(): Promise<void> {
    const { tasks, queue, useColor, isLabelled } = this.#options;
    this.#leave();
    this.#printNotices();
    for (const task of tasks) await this.#printOutput(task, LAST_LINES);
    const style = isLabelled ? "label" : "script";
    const stream = createPrefixReporter({ style, tasks, queue, useColor, passCommands: false });
    this.#close();
    this.#stream = stream;
    for (const event of this.#heldEvents.splice(0)) void stream.report(event);
  }

  #printNotices(): void {
    for (const line of this.#notices.splice(0)) void this.#options.queue.write(2, `${line}\n`);
  }

  async #printOutput(task: ScriptTask, most: number): Promise<void> {
    const { queue, useColor } = this.#options;
    await this.#panes.get(task.index)?.flush();
    printKeptOutput(queue, this.#panes.get(task.index), { label: labelOf(task), most, useColor });
  }

  #close(): void {
    process.off("SIGWINCH", this.#resized);
    this.#tty.close();
    this.#panes.close();
  }

  async finish(): Promise<void | boolean> {
    await this.#switch;
    if (this.#stream) return await this.#stream.finish();
    this.#leave();
    this.#printNotices();
    for (const task of this.#options.tasks) {
      const outcome = this.#outcomes.get(task.index);
      if (outcome && isFailure(outcome)) await this.#printOutput(task, Number.POSITIVE_INFINITY);
      else if (outcome?.kind === "stopped") await this.#printOutput(task, LAST_LINES);
    }
    this.#close();
  }
}
