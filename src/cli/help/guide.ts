// A guide in the terminal: the page of docs/ as it is, rendered by the engine's own Markdown renderer.
//
// Surprising: some things are changed on the way. Code loses the frame that the renderer draws around it, so that it
// can be copied; tables that do not fit become lists; colours with a background of their own give way to those of the
// rest of the help, which suit light terminals as well as dark ones; and a link to another guide becomes the command
// that shows it.
import { GUIDES } from "./guides.ts";
import { readText } from "./embedded-texts.ts";

/** The width of running text when there is no terminal to ask. */
const PLAIN_COLUMNS = 80;
/** Lines longer than this are hard to read, however wide the terminal. */
const MOST_COLUMNS = 100;

export async function renderGuide(name: string, columns: number, useColor: boolean): Promise<string> {
  return renderPage(await readText(name), columns, useColor);
}

/** Pure, so that a test can render any page. */
export function renderPage(markdown: string, columns: number, useColor: boolean): string {
  const width = Math.min(columns || PLAIN_COLUMNS, MOST_COLUMNS);
  // Fenced blocks stand at the odd places, and stay as they are.
  const parts = markdown.split(/(^```[^]*?^```$)/m);
  const adapt = (prose: string) => unrollTables(localizeLinks(withoutNotes(prose)), width);
  const adapted = parts.map((part, index) => (index % 2 === 0 ? adapt(part) : part)).join("");
  const rendered = Bun.markdown.ansi(adapted, { columns: width, colors: useColor });
  return calmColors(spaceOut(unframeCode(rendered))).trimEnd();
}

function withoutNotes(markdown: string): string {
  return markdown.replaceAll(/<!--.*?-->\n*/gs, "");
}

/** `[text](page.md#part)` is of no use in a terminal. */
function localizeLinks(markdown: string): string {
  return markdown.replaceAll(/\[([^\]\n]+)\]\((?!https?:)([^)\s#]*)(?:#[^)\s]*)?\)/g, (_, text, target) => {
    const [name] = Object.entries(GUIDES).find(([, { page }]) => page === target) ?? [];
    return name ? `${text} (\`rt help ${name}\`)` : text;
  });
}

/** Code stands between `+- ts` and `+-`, behind bars; on terminals the same is drawn. Rules of tables are longer. */
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
    // What the code before it prints must not be taken for more code.
    return start[1] === "text" ? [line.replace(/\S.*/, "  prints")] : [];
  });
  return lines.join("\n");
}

/** One blank line between a paragraph, code or a table and the list after it, and never two. */
function spaceOut(rendered: string): string {
  return rendered
    .replaceAll(/^(?! )(.+)\n(?= {2,3}(?:\x1b\[[\d;]*m)*(?:[*•]|\d+\.)(?:\x1b\[[\d;]*m)* )/gm, "$1\n\n")
    .replaceAll(/\n{3,}/g, "\n\n");
}

const TABLE = /^\|.*\|\n\|[ :|-]+\|\n(?:\|.*\|(?:\n|$))*/gm;

/** A table of more than two columns that the terminal is too narrow for becomes a list: its words would be broken. */
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

/** The second cell explains the first, unless the first column has no name: then each cell needs the name of its own. */
function unrollRow([first, ...cells]: string[], [title, ...titles]: string[]): string {
  const labelled = cells.map((cell, index) =>
    title !== "" && index === 0 ? cell : `${lowered(titles[index]!)}: ${cell}`,
  );
  const said = labelled.filter((_, index) => cells[index] !== "");
  return `${first} - ${said.join("; ")}`;
}

/** Names in code, and words in capitals, stay as they are. */
function lowered(title: string): string {
  return title.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
}

function calmColors(rendered: string): string {
  return rendered
    .replaceAll(/\x1b\[48;5;\d+m|\x1b\[49m/g, "")
    .replaceAll("\x1b[38;5;215m", "\x1b[36m")
    .replaceAll(/\x1b\[1m\x1b\[3[3-6]m/g, "\x1b[1m");
}
