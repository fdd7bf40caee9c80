// Prints the kept output of a task on the normal screen, from the cells of its emulator. So colours are the only
// control sequences of a task that reach the terminal.
import type { OutputQueue } from "../../tasks/output-queue.ts";
import { type Pane, SCROLLBACK } from "./pane.ts";

export interface PrintedOutputOptions {
  readonly label: string;
  readonly most: number;
  readonly useColor: boolean;
}

export function printKeptOutput(
  queue: OutputQueue,
  pane: Pane | undefined,
  { label, most, useColor }: PrintedOutputOptions,
): void {
  const lines = pane?.allLines(useColor) ?? [];
  if (lines.every((line) => line === "")) return;
  const isCut = lines.length > most || lines.length >= SCROLLBACK;
  const title = isCut ? `the last ${Math.min(lines.length, most)} lines` : "output";
  const shown = lines.slice(-most).map((line) => `│ ${line}\n`);
  void queue.write(1, `\n${label}: ${title}\n${shown.join("")}`);
}
