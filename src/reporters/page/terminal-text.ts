// What a script wrote to a terminal, as elements: colours and the like become classes, what else steers a terminal goes.
import Anser from "anser";
import { element } from "./elements.ts";

/** Titles, links and the like; character sets, cursors. Those of one line, written over: the last of them. */
const COMMANDS = /\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]+[0-~]|\x1b(?![\[\]])[0-~]/g;
const OVERWRITTEN = /^.*\r(?=[^\r\n])/gm;
const INVISIBLE = /[\0-\x08\x0b-\x1f\x7f-\x9f]/g;

/** One piece: Anser's own loop gives all pieces of a line one list of decorations. */
interface StyledText {
  readonly content: string;
  readonly fg: string | null;
  readonly bg: string | null;
  readonly fg_truecolor: string | null;
  readonly bg_truecolor: string | null;
  readonly decorations: readonly string[];
}

interface EscapeReader {
  processChunkJson(text: string, options: object, markup: boolean): StyledText;
}

export function renderOutput(text: string): (Node | string)[] {
  const reader = new (Anser as unknown as new () => EscapeReader)();
  const clean = text.replace(COMMANDS, "").replaceAll("\r\n", "\n").replace(OVERWRITTEN, "");
  const [first = "", ...rest] = clean.split("\x1b[");
  const nodes: (Node | string)[] = [first.replace(INVISIBLE, "")];
  for (const each of rest) {
    const piece = reader.processChunkJson(each, { use_classes: true }, true);
    const content = piece.content.replace(INVISIBLE, "");
    if (content !== "") nodes.push(styled(piece, content));
  }
  return nodes;
}

function styled(
  { fg, bg, fg_truecolor, bg_truecolor, decorations }: StyledText,
  content: string,
): Node | string {
  const classes = [fg && `f-${fg}`, bg && `b-${bg}`, ...decorations.map((name) => `ansi-${name}`)];
  const named = classes.filter((name): name is string => typeof name === "string");
  if (named.length === 0) return content;
  const span = element("span", { class: named.join(" ") }, content);
  const [color, background] = [exactColor(fg, fg_truecolor), exactColor(bg, bg_truecolor)];
  // Of a colour that a script has chosen exactly nobody knows whether it can be read on the page's: the terminal's is dark.
  if (color || background) span.classList.add("exact");
  if (color) span.style.color = color;
  if (background) span.style.backgroundColor = background;
  return span;
}

const LEVELS = [0, 95, 135, 175, 215, 255];

function exactColor(name: string | null, exact: string | null): string | undefined {
  if (name === "ansi-truecolor") return `rgb(${exact})`;
  const index = Number(/^ansi-palette-(\d+)$/.exec(name ?? "")?.[1] ?? Number.NaN);
  if (Number.isNaN(index)) return undefined;
  if (index >= 232)
    return `rgb(${Array(3)
      .fill((index - 232) * 10 + 8)
      .join(",")})`;
  const [red, green, blue] = [
    Math.floor((index - 16) / 36),
    Math.floor((index - 16) / 6) % 6,
    (index - 16) % 6,
  ];
  return `rgb(${LEVELS[red]},${LEVELS[green]},${LEVELS[blue]})`;
}
