// Converts terminal output to DOM nodes: colours become classes, other control sequences are removed.
import Anser from "anser";
import { element } from "./elements.ts";

/** Control sequences other than CSI (titles, links, character sets), and text that a CR overwrites. */
const COMMANDS = /\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]+[0-~]|\x1b(?![[\]])[0-~]/g;
const OVERWRITTEN = /^.*\r(?=[^\r\n])/gm;
const INVISIBLE = /[\0-\x08\x0b-\x1f\x7f-\x9f]/g;

/**
 * One styled chunk. Anser is called for each chunk, because its own loop shares one list of decorations for all
 * chunks of a line.
 */
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
    const chunk = reader.processChunkJson(each, { use_classes: true }, true);
    const content = chunk.content.replace(INVISIBLE, "");
    if (content !== "") nodes.push(styled(chunk, content));
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
  // An exact colour may be unreadable on the page's background, so it gets the dark background of a terminal.
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
