// Pure functions that render the live view: from block states and a terminal size to lines.
import { oneLine } from "../../printable.ts";

export interface BlockState {
  /** `PKG SCRIPT`. */
  readonly title: string;
  readonly command: string;
  /** The last lines, without control sequences except colours. */
  readonly lines: readonly string[];
  readonly total: number;
  readonly status: string;
  readonly tone: "running" | "succeeded" | "failed" | "skipped";
}

export interface Frame {
  /** Every line is narrower than the terminal. */
  readonly lines: readonly string[];
}

export interface BlockOptions {
  readonly columns: number;
  /** 0 for all. */
  readonly elideLines: number;
  readonly useColor: boolean;
}

export interface FrameOptions extends BlockOptions {
  readonly rows: number;
  /** Tasks that have not started yet. */
  readonly waiting: number;
}

const TONES = { running: 36, succeeded: 32, failed: 31, skipped: 33 } as const;
const HEADER_AND_STATUS = 2;

/** Renders blocks one below the other, shortened to fit. The last row of the terminal stays free. */
export function renderFrame(blocks: readonly BlockState[], options: FrameOptions): Frame {
  const { rows, columns, waiting } = options;
  const available = Math.max(rows - 1, 1);
  const fits = blocks.length * HEADER_AND_STATUS + (waiting > 0 ? 1 : 0) <= available;
  const shown = fits ? blocks : blocks.slice(0, Math.max(1, Math.floor((available - 1) / HEADER_AND_STATUS)));
  const hidden = blocks.length - shown.length;
  const notes = waiting > 0 || hidden > 0 ? 1 : 0;
  const shares = shareRows(shown, available - notes - shown.length * HEADER_AND_STATUS, options.elideLines);
  const lines = shown.flatMap((block, index) => {
    const share = shares[index]!;
    return share === 0
      ? renderBlock({ ...block, lines: [], total: 0 }, options)
      : renderBlock(block, { ...options, elideLines: share });
  });
  const footer: string[] = [];
  if (hidden > 0) footer.push(`${hidden} more running`);
  if (waiting > 0) footer.push(`${waiting} waiting`);
  if (footer.length > 0) lines.push(clip(footer.join(", "), columns - 1));
  return { lines: lines.slice(0, available) };
}

/** Distributes `rows` among blocks: equal shares, and unused rows of some go to the others. */
function shareRows(blocks: readonly BlockState[], rows: number, elideLines: number): number[] {
  const most = elideLines === 0 ? Number.POSITIVE_INFINITY : elideLines;
  const wanted = blocks.map(({ lines }) => Math.min(lines.length, most));
  const shares = blocks.map(() => 0);
  let remaining = rows;
  const byNeed = [...blocks.keys()].sort((a, b) => wanted[a]! - wanted[b]!);
  for (const [position, index] of byNeed.entries()) {
    const fair = Math.floor(remaining / (blocks.length - position));
    const isElided = wanted[index]! > fair || blocks[index]!.total > wanted[index]!;
    shares[index] = Math.max(0, Math.min(wanted[index]!, isElided ? fair - 1 : fair)); // one row is for the note about elided lines
    remaining -= shares[index] + (isElided ? 1 : 0);
  }
  return shares;
}

export function renderBlock(block: BlockState, { columns, elideLines, useColor }: BlockOptions): string[] {
  const width = columns - 1; // a full last column would leave the cursor between two rows
  const paint = (code: number, text: string) => (useColor ? `\x1b[${code}m${text}\x1b[0m` : text);
  const command = oneLine(block.command.replace(/\s+/g, " "));
  const header = clip(block.title + (command === "" ? "" : ` $ ${command}`), width);
  const shown = elideLines === 0 ? block.lines : block.lines.slice(-elideLines);
  const elided = block.total - shown.length;
  const lines = [useColor ? `\x1b[1m${header}\x1b[0m` : header];
  if (elided > 0)
    lines.push(paint(2, clip(`│ [${elided} ${elided === 1 ? "line" : "lines"} elided]`, width)));
  for (const line of shown) lines.push(clip(`│ ${line}`, width));
  lines.push(`└─ ${paint(TONES[block.tone], clip(block.status, Math.max(width - 3, 1)))}`);
  return lines;
}

/** Cuts text to at most `width` columns and resets colours. */
export function clip(text: string, width: number): string {
  const close = text.includes("\x1b") ? "\x1b[0m" : "";
  if (Bun.stringWidth(text) <= width) return text + close;
  const most = Math.max(width - 1, 0);
  let clipped = Bun.sliceAnsi(text, 0, most);
  // A wide character that crosses the edge is included, so cut once more.
  if (Bun.stringWidth(clipped) > most) clipped = Bun.sliceAnsi(text, 0, most - 1);
  return `${clipped}…${close}`;
}

/** Number of rows of lines that were drawn for another width, because a terminal wraps lines that are too long. */
export function rowsTaken({ lines }: Frame, columns: number): number {
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(Bun.stringWidth(line) / columns)), 0);
}
