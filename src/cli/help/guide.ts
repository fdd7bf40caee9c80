// Renders a guide, a page of docs/, for the terminal with the engine's Markdown renderer.
//
// Non-obvious:
// - The frame around code is removed, so that users can copy the code.
// - Tables wider than the terminal become lists.
// - Colours with a background become those of the other help texts, which suit light and dark terminals.
// - A link to another guide becomes the command that prints it.
import { GUIDES } from "./guides.ts";
import { readText } from "./embedded-texts.ts";

/** Text width without a terminal. */
const DEFAULT_COLUMNS = 80;
/** Longer lines are hard to read on any terminal. */
const MAX_COLUMNS = 100;

export async function renderGuide(name: string, columns: number, useColor: boolean): Promise<string> {
  return renderPage(await readText(name), columns, useColor);
}

/** Renders a page. It is pure, so that a test can render any text. */
export function renderPage(markdown: string, columns: number, useColor: boolean): string {
  const width = Math.min(columns || DEFAULT_COLUMNS, MAX_COLUMNS);
  // The parts with an odd index are fenced code blocks, which are not changed.
  const parts = markdown.split(/(^```[^]*?^```$)/m);
  const adapt = (prose: string) => unrollTables(localizeLinks(withoutNotes(prose)), width);
  const adapted = parts.map((part, index) => (index % 2 === 0 ? adapt(part) : part)).join("");
  const rendered = Bun.markdown.ansi(adapted, { columns: width, colors: useColor });
  return calmColors(spaceOut(unframeCode(rendered))).trimEnd();
}

function withoutNotes(markdown: string): string {
  return markdown.replaceAll(/<!--.*?-->\n*/gs, "");
}

/** Replaces `[text](page.md#part)`, which a terminal cannot follow. */
function localizeLinks(markdown: string): string {
  return markdown.replaceAll(
    /\[([^\]\n]+)\]\((?!https?:)([^)\s#]*)(?:#[^)\s]*)?\)/g,
    (_, text: string, target: string) => {
      const file = target.split("/").at(-1);
      const [name] = Object.entries(GUIDES).find(([, { page }]) => page.split("/").at(-1) === file) ?? [];
      return name ? `${text} (\`rt help ${name}\`)` : text;
    },
  );
}

/** The renderer puts code between `+- ts` and `+-` with a bar before each line, or the box-drawing equivalents. */
const FRAME_START = /^ *(?:\+-|┌─)(?: (\S.*)?)?$/;
const FRAME_END = /^ *(?:\+-|└─)$/;
const BAR = /^( *)(?:\x1b\[2m)?[|│](?: ?\x1b\[0m| |$)/;

function unframeCode(rendered: string): string {
  let isCode = false;
  const lines = rendered.split("\n").flatMap((line) => {
    if (isCode && FRAME_END.test(Bun.stripANSI(line))) {
      isCode = false;
      return [""];
    }
    if (isCode) return [line.replace(BAR, "$1    ").trimEnd()];
    const start = FRAME_START.exec(Bun.stripANSI(line));
    if (!start) return [line];
    isCode = true;
    // A `text` block is the output of the code before it; the label separates the two.
    return start[1] === "text" ? [line.replace(/\S.*/, "  prints")] : [];
  });
  return lines.join("\n");
}

/** Puts one blank line before a list, and collapses several blank lines to one. */
function spaceOut(rendered: string): string {
  return rendered
    .replaceAll(/^(?! )(.+)\n(?= {2,3}(?:\x1b\[[\d;]*m)*(?:[*•]|\d+\.)(?:\x1b\[[\d;]*m)* )/gm, "$1\n\n")
    .replaceAll(/\n{3,}/g, "\n\n");
}

const TABLE = /^\|.*\|\n\|[ :|-]+\|\n(?:\|.*\|(?:\n|$))*/gm;

/** Turns a table of more than two columns that is wider than the terminal into a list, because its words would be broken. */
function unrollTables(markdown: string, width: number): string {
  return markdown.replaceAll(TABLE, (table) => {
    const [head, , ...rows] = table.trimEnd().split("\n").map(cellsOf);
    const longest = head!.map((_, column) => Math.max(...[head!, ...rows].map((row) => row[column]!.length)));
    const natural = longest.reduce((sum, length) => sum + length + 3, 1);
    if (head!.length < 3 || natural <= width) return table;
    return rows.map((row) => `- ${unrollRow(row, head!)}\n`).join("");
  });
}

function cellsOf(line: string): string[] {
  return line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));
}

/** The second cell describes the first, so it needs no label, unless the first column has no title. */
function unrollRow([first, ...cells]: string[], [title, ...titles]: string[]): string {
  const labelled = cells.map((cell, index) =>
    title !== "" && index === 0 ? cell : `${lowered(titles[index]!)}: ${cell}`,
  );
  return `${first} - ${labelled.filter((_, index) => cells[index] !== "").join("; ")}`;
}

/** Lowercases the first letter, except of names in code and acronyms. */
function lowered(title: string): string {
  return title.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
}

function calmColors(rendered: string): string {
  return rendered
    .replaceAll(/\x1b\[48;5;\d+m|\x1b\[49m/g, "")
    .replaceAll("\x1b[38;5;215m", "\x1b[36m")
    .replaceAll(/\x1b\[1m\x1b\[3[3-6]m/g, "\x1b[1m");
}
