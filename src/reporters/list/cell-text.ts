// Renders cells of the emulator as text with SGR sequences.
//
// Invariants: text leaves the emulator as cells only. Characters that a terminal may interpret are removed.
import type { IBufferCell, IBufferLine } from "@xterm/headless";

/** Characters that a terminal may interpret, or that reorder others. */
const UNSAFE = /[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]|\p{Bidi_Control}|\p{Surrogate}/gu;

/** Returns the columns of all occurrences of a text in lower case. */
function findColumns(line: IBufferLine, cell: IBufferCell, wanted: string): Set<number> {
  /** The column of each character of the text. */
  const columns: number[] = [];
  let text = "";
  for (let column = 0; column < line.length; column += 1) {
    line.getCell(column, cell);
    if (cell.getWidth() === 0) continue;
    const characters = (cell.getChars() || " ").toLowerCase();
    for (let unit = 0; unit < characters.length; unit += 1) columns.push(column);
    text += characters;
  }
  const found = new Set<number>();
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length))
    for (const column of columns.slice(at, at + wanted.length)) found.add(column);
  return found;
}

/**
 * Renders a line of cells, with colours or without.
 * @param search text in lower case that is shown inverted; needs colours
 */
export function renderLine(line: IBufferLine, cell: IBufferCell, useColor: boolean, search = ""): string {
  const marked = useColor && search !== "" ? findColumns(line, cell, search) : undefined;
  let text = "";
  let style = "";
  let trailing = "";
  for (let column = 0; column < line.length; column += 1) {
    line.getCell(column, cell);
    if (cell.getWidth() === 0) continue;
    const characters = cell.getChars();
    const next = useColor ? styleOf(cell, marked?.has(column) ?? false) : "";
    if (characters === "" && next === "") {
      trailing += " ";
      continue;
    }
    if (style !== "" && trailing !== "") text += "\x1b[0m";
    if (trailing !== "" && style !== "") style = "";
    text += trailing;
    trailing = "";
    if (next !== style) text += `\x1b[0${next}m`;
    style = next;
    text += characters === "" ? " " : safe(characters);
  }
  return style === "" ? text : `${text}\x1b[0m`;
}

function safe(characters: string): string {
  if (characters.length === 1 && characters >= " " && characters <= "~") return characters;
  return characters.replace(UNSAFE, "") || " ";
}

/** Parameters of SGR, each with a semicolon before it. */
function styleOf(cell: IBufferCell, isMarked: boolean): string {
  if (cell.isAttributeDefault()) return isMarked ? ";7" : "";
  let style = "";
  if (cell.isBold()) style += ";1";
  if (cell.isDim()) style += ";2";
  if (cell.isItalic()) style += ";3";
  if (cell.isUnderline()) style += ";4";
  if (isMarked !== (cell.isInverse() !== 0)) style += ";7";
  if (cell.isInvisible()) style += ";8";
  if (cell.isStrikethrough()) style += ";9";
  if (cell.isFgRGB()) style += `;38;2;${rgb(cell.getFgColor())}`;
  else if (cell.isFgPalette()) style += `;38;5;${cell.getFgColor()}`;
  if (cell.isBgRGB()) style += `;48;2;${rgb(cell.getBgColor())}`;
  else if (cell.isBgPalette()) style += `;48;5;${cell.getBgColor()}`;
  return style;
}

function rgb(color: number): string {
  return `${(color >> 16) & 255};${(color >> 8) & 255};${color & 255}`;
}
