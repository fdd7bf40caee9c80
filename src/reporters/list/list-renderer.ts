// Draws the list and the output of the selected task.
//
// Invariants: while the output is scrolled, it stays on the same lines.
import { outputs } from "../../../platform/terminal/output.ts";
import { layoutList, type ListLayout, renderList, type TerminalSize } from "./list-frame.ts";
import type { ListState } from "./list-model.ts";
import type { ListScreen, ScreenCursor } from "./list-screen.ts";
import type { Pane } from "./pane.ts";
import type { TaskPanes } from "./task-panes.ts";

export class ListRenderer {
  readonly #screen: ListScreen;
  readonly #panes: TaskPanes;
  readonly #useColor: boolean;
  /** The view of the last frame. */
  #shown = { entry: -1, scroll: 0 };

  constructor(screen: ListScreen, panes: TaskPanes, useColor: boolean) {
    [this.#screen, this.#panes, this.#useColor] = [screen, panes, useColor];
  }

  /** Corrects the scroll by the lines that were added since the last frame. */
  keepPlace(state: ListState): ListState {
    const { selected, scroll } = state;
    const isNew = this.#shown.entry !== selected || this.#shown.scroll !== scroll;
    const { height } = currentLayout(state);
    const kept = this.#panes.get(selected)?.keepPlace(scroll, height, isNew) ?? 0;
    this.#shown = { entry: selected, scroll: kept };
    return kept === scroll ? state : { ...state, scroll: kept };
  }

  /** Returns the state with the scroll that is shown. @param now the time on the clock of the run */
  draw(before: ListState, now: number): ListState {
    if (!this.#screen.isActive) return before;
    const size = terminalSize();
    const layout = layoutList(before, size);
    const state = this.keepPlace(before);
    const pane = this.#panes.get(state.selected);
    const top = pane?.topOf(state.scroll, layout.height) ?? 0;
    const output = pane?.lines(top, layout.height, this.#useColor, state.search) ?? [];
    const rows = renderList(state, size, { output, now, useColor: this.#useColor });
    this.#screen.draw(rows, pane && state.mode === "input" ? cursorOn(pane, layout, top) : undefined);
    return state;
  }
}

export function currentLayout(state: ListState): ListLayout {
  return layoutList(state, terminalSize());
}

function cursorOn(pane: Pane, layout: ListLayout, top: number): ScreenCursor {
  const y = pane.screenTop - top + pane.cursor.y;
  return { x: layout.left + pane.cursor.x, y: layout.top + Math.min(Math.max(y, 0), layout.height - 1) };
}

function terminalSize(): TerminalSize {
  return outputs.terminalSize() ?? { columns: 80, rows: 24 };
}
