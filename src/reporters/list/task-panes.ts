// The emulators and pseudo-terminals of the tasks in the list, by position of the task.
import type { ChildTerminal, TerminalDimensions } from "../../../platform/processes/contract/process-tree.ts";
import { Pane } from "./pane.ts";

export class TaskPanes {
  readonly #size: () => TerminalDimensions;
  readonly #panes = new Map<number, Pane>();
  readonly #terminals = new Map<number, ChildTerminal>();

  /** @param size the current size of the output */
  constructor(size: () => TerminalDimensions) {
    this.#size = size;
  }

  get(index: number): Pane | undefined {
    return this.#panes.get(index);
  }

  /** A step has started. @param isNew whether its task has started, which empties the pane */
  begin(index: number, terminal: ChildTerminal | undefined, isNew: boolean): void {
    this.endInput(index);
    if (terminal) this.#terminals.set(index, terminal);
    if (isNew) {
      this.#panes.get(index)?.close();
      this.#panes.delete(index);
    }
    this.#open(index);
  }

  write(index: number, bytes: Uint8Array): void | Promise<void> {
    return this.#open(index).write(bytes);
  }

  #open(index: number): Pane {
    let pane = this.#panes.get(index);
    if (!pane) {
      const encoder = new TextEncoder();
      const hasTerminal = this.#terminals.has(index);
      const onReply = (text: string) => this.type(index, encoder.encode(text));
      pane = new Pane({ ...this.#size(), hasTerminal, onReply });
      this.#panes.set(index, pane);
    }
    return pane;
  }

  type(index: number, bytes: Uint8Array): void {
    this.#terminals.get(index)?.type(bytes);
  }

  endInput(index: number): void {
    this.#terminals.delete(index);
  }

  resize(): void {
    const size = this.#size();
    for (const pane of this.#panes.values()) pane.resize(size.columns, size.rows);
    for (const terminal of this.#terminals.values()) terminal.resize(size);
  }

  close(): void {
    for (const pane of this.#panes.values()) pane.close();
    this.#panes.clear();
    this.#terminals.clear();
  }
}
