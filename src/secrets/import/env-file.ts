// Where a file of variables (.env) assigns what: the places in its text, so that one assignment can be taken out or put
// back and every other character stays.
//
// Contract: this only looks for places. What a variable's value is, the engine says (engine-values.ts), and a changed text
// counts only if the engine reads it as it read the old one, but for what was meant to change. So a file that this
// reads otherwise than the engine is refused, never damaged.
//
// Surprising: a value in quotes may have lines, and a quote without an end is a letter of its line.

export type Quote = "" | '"' | "'" | "`";

export interface Assignment {
  readonly name: string;
  /** From 1. */
  readonly line: number;
  /** From `export`, or the name, to the end of the value with its quotes. */
  readonly start: number;
  readonly end: number;
  /** Up to the value: "export NAME=". */
  readonly prefix: string;
  readonly quote: Quote;
  /** Between the quotes. */
  readonly raw: string;
  /** Whether nothing but a comment follows in the line. */
  readonly isWhole: boolean;
}

/** Sticky; what is no assignment is passed over, up to the end of its line. */
const PREFIX = /(?:export[ \t]+)?([\w.-]+)[ \t]*[=:][ \t]*/y;
const QUOTED = /"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*'|`(?:[^`\\]|\\[^])*`/y;
const PLAIN = /[^#\r\n]*/y;
const REST = /[ \t]*(?:#.*)?(?=[\r\n]|$)/y;
const LINE_END = /[^\r\n]*(?:\r\n?|\n|$)/y;
const BLANK = /[ \t\v\f\r\n]*/y;

export function findAssignments(text: string): Assignment[] {
  const found: Assignment[] = [];
  let [position, line, counted] = [text.startsWith("\ufeff") ? 1 : 0, 1, 0];
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = position;
    const match = pattern.exec(text);
    if (match) position = pattern.lastIndex;
    return match;
  };
  while ((take(BLANK), position < text.length)) {
    const start = position;
    const prefix = text[start] === "#" ? null : take(PREFIX);
    if (!prefix) {
      take(LINE_END);
      continue;
    }
    line += text.slice(counted, start).match(/\r\n?|\n/g)?.length ?? 0;
    counted = start;
    const quoted = take(QUOTED)?.[0];
    const plain = quoted === undefined ? take(PLAIN)![0].trimEnd() : undefined;
    const end = start + prefix[0].length + (quoted ?? plain)!.length;
    position = end;
    const isWhole = take(REST) !== null;
    found.push({
      name: prefix[1]!,
      line,
      start,
      end,
      prefix: prefix[0],
      quote: (quoted?.[0] ?? "") as Quote,
      raw: quoted?.slice(1, -1) ?? plain!,
      isWhole,
    });
    take(LINE_END);
  }
  return found;
}

/** The text with other words in the place of some assignments. */
export function replaceSpans(
  text: string,
  spans: readonly { readonly start: number; readonly end: number; readonly by: string }[],
): string {
  let [result, position] = ["", 0];
  for (const { start, end, by } of spans.toSorted((a, b) => a.start - b.start)) {
    result += text.slice(position, start) + by;
    position = end;
  }
  return result + text.slice(position);
}
