// A guide in the terminal: the page of docs/ as it is, rendered by the engine's own Markdown renderer.
//
// Surprising: three things are changed on the way. Code loses the frame that the renderer draws around it, so that it
// can be copied; colours with a background of their own give way to those of the rest of the help, which suit light
// terminals as well as dark ones; and a link to another guide becomes the command that shows it.
import { GUIDES } from "./guides.ts";

/** The width of running text when there is no terminal to ask. */
const PLAIN_COLUMNS = 80;
/** Lines longer than this are hard to read, however wide the terminal. */
const MOST_COLUMNS = 100;

export async function renderGuide(name: string, columns: number, useColor: boolean): Promise<string> {
  const text = (await readGuides())[name]!;
  return renderPage(text, columns, useColor);
}

/** Pure, so that a test can render any page. */
export function renderPage(markdown: string, columns: number, useColor: boolean): string {
  const width = Math.min(columns || PLAIN_COLUMNS, MOST_COLUMNS);
  const rendered = Bun.markdown.ansi(localizeLinks(withoutNotes(markdown)), {
    columns: width,
    colors: useColor,
  });
  return calmColors(unframeCode(rendered)).trimEnd();
}

async function readGuides(): Promise<Record<string, string>> {
  const { default: file } = await import("rt:guides", { with: { type: "file" } });
  return JSON.parse(new TextDecoder().decode(Bun.zstdDecompressSync(await Bun.file(file).bytes())));
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

const FRAME = /^( *)(?:\x1b\[2m)?(\+-|┌─|\||│|└─)(?: \x1b\[0m|\x1b\[0m| |$)/;

function unframeCode(rendered: string): string {
  let isCode = false;
  const lines = rendered.split("\n").flatMap((line) => {
    const [lead, indent = "", edge] = FRAME.exec(line) ?? [];
    if (lead === undefined || isTableRule(line)) return [line];
    if (edge === "┌─" || edge === "└─" || edge === "+-") {
      isCode = !isCode;
      // What the code before it prints must not be taken for more code.
      return isCode && Bun.stripANSI(line).endsWith("text") ? [`${indent}  prints`] : [];
    }
    return [isCode ? `${indent}    ${line.slice(lead.length)}`.trimEnd() : line];
  });
  return lines.join("\n");
}

function isTableRule(line: string): boolean {
  return line.includes("--") || line.includes("──");
}

function calmColors(rendered: string): string {
  return rendered
    .replaceAll(/\x1b\[48;5;\d+m|\x1b\[49m/g, "")
    .replaceAll("\x1b[38;5;215m", "\x1b[36m")
    .replaceAll(/\x1b\[1m\x1b\[3[3-6]m/g, "\x1b[1m");
}
