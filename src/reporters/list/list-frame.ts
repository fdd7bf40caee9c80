// Renders the list of tasks: from its state and the visible output to the rows of the terminal. Pure.
//
// Invariants:
// - There are exactly as many rows as the terminal has, and none is wider.
// - A state is visible without colours.
import { oneLine } from "../../printable.ts";
import { formatDuration } from "../../tasks/labels.ts";
import { clip } from "../terminal/live-frame.ts";
import { type EntryState, type ListState, shownEntries } from "./list-model.ts";

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** Where the output is, in rows and columns from 0. */
export interface ListLayout {
  readonly listWidth: number;
  readonly listHeight: number;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Below this width, the list is above the output. */
const MIN_SIDE_BY_SIDE = 60;
/** Below this height, a narrow terminal shows the list alone. */
const MIN_STACKED = 8;
const MAX_LIST_WIDTH = 40;
const TIME_WIDTH = 9;

const SYMBOLS: Readonly<Record<EntryState, string>> = {
  waiting: "·",
  running: "●",
  ready: "●",
  succeeded: "✓",
  failed: "✗",
  skipped: "-",
  stopped: "■",
};
const COLORS: Readonly<Record<EntryState, number>> = {
  waiting: 2,
  running: 36,
  ready: 32,
  succeeded: 32,
  failed: 31,
  skipped: 33,
  stopped: 33,
};

const HELP: readonly (readonly [keys: string, effect: string])[] = [
  ["Up, Down, k, j", "select a task"],
  ["/", "filter the list; Esc shows all"],
  ["Page Up, Page Down", "scroll; Home and End, g and G: beginning and end"],
  ["End, G", "follow the output"],
  ["f, then n and N", "search the output"],
  ["r", "restart the task and what depends on it"],
  ["s", "stop the task"],
  ["i, Enter", "type input for the task; Ctrl-Z leaves"],
  ["c", "copy mode: the output alone, for the terminal's own selection"],
  ["p", "switch to the plain stream"],
  ["q, Ctrl-C", "end all tasks"],
  ["Ctrl-Z", "suspend"],
];
const HINTS = "j/k select  / filter  f find  r restart  s stop  i input  c copy  p stream  ? help  q quit";

export function layoutList(state: ListState, { columns, rows }: TerminalSize): ListLayout {
  const body = Math.max(rows - 1, 1);
  if (state.mode === "copy")
    return { listWidth: 0, listHeight: 0, left: 0, top: 0, width: columns, height: body };
  if (columns >= MIN_SIDE_BY_SIDE) {
    const longest = Math.max(...state.entries.map(({ label }) => Bun.stringWidth(label)));
    const listWidth = Math.min(longest + 4 + TIME_WIDTH, MAX_LIST_WIDTH, Math.floor(columns / 3));
    const left = listWidth + 1;
    return { listWidth, listHeight: body, left, top: 0, width: columns - left, height: body };
  }
  const listHeight =
    body < MIN_STACKED ? body : Math.min(state.entries.length, Math.max(Math.floor(body / 3), 1));
  const top = Math.min(listHeight + 1, body);
  return { listWidth: columns, listHeight, left: 0, top, width: columns, height: Math.max(body - top, 0) };
}

export interface ListContent {
  /** Rows of the selected output, with reset colours at their ends. */
  readonly output: readonly string[];
  /** Milliseconds on the clock of the run. */
  readonly now: number;
  readonly useColor: boolean;
}

export function renderList(state: ListState, size: TerminalSize, content: ListContent): string[] {
  const { columns, rows } = size;
  const layout = layoutList(state, size);
  const body = Math.max(rows - 1, 1);
  const entries = renderEntries(state, layout, content);
  const output = state.mode === "help" ? renderHelpRows(layout) : content.output;
  const lines: string[] = [];
  for (let row = 0; row < body; row += 1) {
    if (layout.listHeight === 0) lines.push(output[row] ?? "");
    else if (layout.left > 0)
      lines.push(`${entries[row] ?? " ".repeat(layout.listWidth)}│${output[row] ?? ""}`);
    else if (row < layout.listHeight) lines.push(entries[row] ?? "");
    else if (row < layout.top) lines.push("─".repeat(columns));
    else lines.push(output[row - layout.top] ?? "");
  }
  if (rows > 1) lines.push(renderStatus(state, columns, content.useColor));
  return lines.slice(0, rows);
}

function renderEntries(
  state: ListState,
  { listWidth, listHeight }: ListLayout,
  { now, useColor }: ListContent,
): string[] {
  if (listHeight === 0) return [];
  const shown = shownEntries(state);
  const at = Math.max(shown.indexOf(state.selected), 0);
  const first = Math.max(0, Math.min(at - Math.floor(listHeight / 2), shown.length - listHeight));
  return shown.slice(first, first + listHeight).map((index) => {
    const { label, state: current, time } = state.entries[index]!;
    const duration = time === undefined ? undefined : current === "running" ? now - time : time;
    const shownTime = current === "ready" ? "ready" : duration === undefined ? "" : shortDuration(duration);
    const isSelected = index === state.selected;
    const nameWidth = Math.max(listWidth - 4 - TIME_WIDTH, 1);
    const name = pad(Bun.stripANSI(clip(label, nameWidth)), nameWidth);
    const symbol = useColor ? `\x1b[${COLORS[current]}m${SYMBOLS[current]}\x1b[0m` : SYMBOLS[current];
    const text = useColor && isSelected ? `\x1b[1;7m${name}\x1b[0m` : name;
    const row = `${isSelected ? ">" : " "}${symbol} ${text}${shownTime.padStart(TIME_WIDTH)} `;
    return Bun.stringWidth(row) > listWidth ? clip(row, listWidth) : row;
  });
}

/** Whole seconds, so that the list changes at most once a second. */
function shortDuration(milliseconds: number): string {
  if (milliseconds < 59_500) return `${Math.floor(milliseconds / 1000)} s`;
  if (milliseconds < 3_600_000) return formatDuration(milliseconds).replace(/ (?:(m)in|(s))\b/g, "$1$2");
  return `${Math.floor(milliseconds / 3_600_000)}h ${Math.floor(milliseconds / 60_000) % 60}m`;
}

function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(width - Bun.stringWidth(text), 0));
}

function renderHelpRows({ width, height }: ListLayout): string[] {
  const keyWidth = Math.max(...HELP.map(([keys]) => keys.length)) + 2;
  return HELP.slice(0, height).map(([keys, effect]) => clip(keys.padEnd(keyWidth) + effect, width));
}

function renderStatus(state: ListState, columns: number, useColor: boolean): string {
  const text = clip(statusText(state), columns);
  return useColor && state.mode !== "copy" ? `\x1b[2m${text}\x1b[0m` : text;
}

function statusText(state: ListState): string {
  const entry = state.entries[state.selected];
  switch (state.mode) {
    case "filter":
      return `filter: ${oneLine(state.filter)}_`;
    case "search":
      return `find: ${oneLine(state.search)}_`;
    case "input":
      return `input for ${entry?.label ?? ""}: Ctrl-Z leaves`;
    case "copy":
      return "copy mode: select with the mouse; Page Up, Page Down scroll; Esc leaves";
    case "help":
      return "any key leaves the help";
    case "list":
      break;
  }
  if (state.notice !== "") return state.notice;
  const where = state.scroll > 0 ? `${state.scroll} lines below; End follows  ` : "";
  const message = entry && entry.message !== "" ? `${entry.label}: ${entry.message}  ` : "";
  const filter = state.filter === "" ? "" : `filter: ${oneLine(state.filter)}  `;
  return `${where}${message}${filter}${HINTS}`;
}
