// The state of the list of tasks (`--ui=list`), and what a key does to it. Pure: effects are returned as values.
//
// Invariants:
// - The selection is a task and not a position, so a filter or a new state does not move it to another task.
// - `scroll` counts lines from the end; 0 follows the output.
import type { TaskOutcome } from "../../tasks/task.ts";

export type EntryState = "waiting" | "running" | "ready" | "succeeded" | "failed" | "skipped" | "stopped";

export function stateOf({ kind }: TaskOutcome): EntryState {
  if (kind === "success") return "succeeded";
  return kind === "skipped" || kind === "stopped" ? kind : "failed";
}

/** Whether it has started and not ended. A service that is ready runs. */
export function isRunning(state: EntryState | undefined): boolean {
  return state === "running" || state === "ready";
}

export interface ListEntry {
  readonly label: string;
  readonly state: EntryState;
  /** Milliseconds: the start while it runs, the duration at its end; undefined before its start. */
  readonly time: number | undefined;
  /** How it ended; "" before. */
  readonly message: string;
  /** Whether it has a terminal, so that it can read input. */
  readonly hasTerminal: boolean;
}

/** `copy` shows the output alone over the full width, without redrawing it. */
export type ListMode = "list" | "filter" | "search" | "input" | "copy" | "help";

export interface ListState {
  readonly entries: readonly ListEntry[];
  /** Position in `entries`. */
  readonly selected: number;
  readonly mode: ListMode;
  /** Only labels that contain it are shown. */
  readonly filter: string;
  readonly search: string;
  readonly scroll: number;
  /** The last notice for people; "" for the hints. */
  readonly notice: string;
}

export type ListEffect =
  | { readonly type: "restart" | "stop"; readonly entry: number }
  /** The typed bytes go to the task. */
  | { readonly type: "input"; readonly entry: number; readonly bytes: Uint8Array }
  /** `isNew`: from the end, instead of the line that was found last. */
  | { readonly type: "find"; readonly direction: "up" | "down"; readonly isNew: boolean }
  | { readonly type: "quit" | "stream" };

export interface ListChange {
  readonly state: ListState;
  readonly effect?: ListEffect;
}

/** The part of the view that keys depend on. */
export interface ListView {
  /** Rows of output. */
  readonly height: number;
  /** The greatest scroll of the selected output. */
  readonly maxScroll: number;
}

/** Leaves the input of a task, as in turbo. */
const LEAVE_INPUT = 0x1a; // Ctrl-Z

export function createListState(labels: readonly string[]): ListState {
  const entries = labels.map((label): ListEntry => {
    return { label, state: "waiting", time: undefined, message: "", hasTerminal: false };
  });
  return { entries, selected: 0, mode: "list", filter: "", search: "", scroll: 0, notice: "" };
}

export function updateEntry(state: ListState, index: number, changes: Partial<ListEntry>): ListState {
  const entries = state.entries.map((entry, at) => (at === index ? { ...entry, ...changes } : entry));
  // Without a terminal no input can be sent.
  const isOver = state.mode === "input" && index === state.selected && !isRunning(entries[index]?.state);
  return { ...state, entries, mode: isOver ? "list" : state.mode };
}

/** Positions of the entries that the filter shows; all if it matches none. */
export function shownEntries({ entries, filter }: ListState): number[] {
  const all = [...entries.keys()];
  const wanted = filter.toLowerCase();
  const shown = all.filter((index) => entries[index]!.label.toLowerCase().includes(wanted));
  return shown.length > 0 ? shown : all;
}

/** Applies typed bytes in input mode. They are not keys: every byte but Ctrl-Z belongs to the task. */
export function typeInput(state: ListState, bytes: Uint8Array): ListChange & { readonly rest: Uint8Array } {
  const end = bytes.indexOf(LEAVE_INPUT);
  const typed = end < 0 ? bytes : bytes.subarray(0, end);
  const rest = end < 0 ? bytes.subarray(bytes.length) : bytes.subarray(end + 1);
  const next: ListState = end < 0 ? state : { ...state, mode: "list" };
  if (typed.length === 0) return { state: next, rest };
  return { state: next, rest, effect: { type: "input", entry: state.selected, bytes: typed } };
}

export function pressKey(state: ListState, key: string, view: ListView): ListChange {
  const cleared: ListState = { ...state, notice: "" };
  if (state.mode === "filter" || state.mode === "search") return editText(cleared, key, state.mode);
  if (state.mode === "help") return { state: { ...cleared, mode: "list" } };
  const scrolled = scrollBy(cleared, key, view);
  if (scrolled) return { state: scrolled };
  if (state.mode === "copy") {
    const isEnd = key === "escape" || key === "c" || key === "q";
    return { state: isEnd ? { ...cleared, mode: "list" } : cleared };
  }
  return pressListKey(cleared, key);
}

function pressListKey(state: ListState, key: string): ListChange {
  const entry = state.selected;
  switch (key) {
    case "up":
    case "k":
      return { state: select(state, -1) };
    case "down":
    case "j":
      return { state: select(state, 1) };
    case "/":
      return { state: { ...state, mode: "filter", filter: "" } };
    case "f":
      return { state: { ...state, mode: "search", search: "" } };
    case "n":
      return { state, effect: { type: "find", direction: "down", isNew: false } };
    case "N":
      return { state, effect: { type: "find", direction: "up", isNew: false } };
    case "escape":
      return { state: { ...state, filter: "", search: "" } };
    case "r":
      return { state, effect: { type: "restart", entry } };
    case "s":
      return { state, effect: { type: "stop", entry } };
    case "i":
    case "enter":
      return { state: enterInput(state) };
    case "c":
      return { state: { ...state, mode: "copy" } };
    case "p":
      return { state, effect: { type: "stream" } };
    case "h":
    case "?":
      return { state: { ...state, mode: "help" } };
    case "q":
    case "ctrl-c":
      return { state, effect: { type: "quit" } };
    default:
      return { state };
  }
}

function enterInput(state: ListState): ListState {
  const { hasTerminal, label, state: current } = state.entries[state.selected]!;
  if (!isRunning(current)) return { ...state, notice: `${label} is not running` };
  if (!hasTerminal) return { ...state, notice: `${label} has no terminal, because it is cached` };
  return { ...state, mode: "input", scroll: 0 };
}

function select(state: ListState, step: number): ListState {
  const shown = shownEntries(state);
  const at = shown.indexOf(state.selected);
  const next = shown[Math.min(Math.max(at + step, 0), shown.length - 1)]!;
  return next === state.selected ? state : { ...state, selected: next, scroll: 0 };
}

/** Returns undefined for a key that does not scroll. */
function scrollBy(state: ListState, key: string, { height, maxScroll }: ListView): ListState | undefined {
  const page = Math.max(height - 1, 1);
  const steps: Readonly<Record<string, number>> = {
    pageup: page,
    "ctrl-b": page,
    pagedown: -page,
    "ctrl-f": -page,
    "ctrl-u": Math.ceil(page / 2),
    "ctrl-d": -Math.ceil(page / 2),
    home: maxScroll,
    g: maxScroll,
    end: -maxScroll,
    G: -maxScroll,
    ...(state.mode === "copy" && { up: 1, k: 1, down: -1, j: -1 }),
  };
  const step = steps[key];
  if (step === undefined) return undefined;
  return { ...state, scroll: Math.min(Math.max(state.scroll + step, 0), maxScroll) };
}

function editText(state: ListState, key: string, mode: "filter" | "search"): ListChange {
  if (key === "escape" || key === "ctrl-c") return { state: { ...state, mode: "list", [mode]: "" } };
  if (key === "enter") {
    const closed: ListState = { ...state, mode: "list" };
    return mode === "search"
      ? { state: closed, effect: { type: "find", direction: "up", isNew: true } }
      : { state: closed };
  }
  if (mode === "filter" && (key === "up" || key === "down"))
    return { state: select(state, key === "up" ? -1 : 1) };
  const text = key === "backspace" ? [...state[mode]].slice(0, -1).join("") : state[mode] + textOf(key);
  const edited = { ...state, [mode]: text };
  const shown = shownEntries(edited);
  if (mode === "search" || shown.includes(state.selected)) return { state: edited };
  return { state: { ...edited, selected: shown[0]!, scroll: 0 } };
}

/** The character of a key; "" for a key with a name. */
function textOf(key: string): string {
  return [...key].length === 1 ? key : "";
}
