// Finds the assignments of an env file in its text, so that one can be removed or restored and every other character stays.
//
// Invariants:
// - This module finds positions only. The engine determines values (engine-values.ts), and a changed text is accepted only if
//   the engine reads every other variable unchanged. A file that is parsed differently here is rejected, never damaged.
//
// Non-obvious: a quoted value may span lines, and an unclosed quote is literal text.

export type Quote = "" | '"' | "'" | "`";

export interface Assignment {
  readonly name: string;
  /** Line number from 1. */
  readonly line: number;
  /** Offset of `export` or of the name. */
  readonly start: number;
  /** Offset after the value and its closing quote. */
  readonly end: number;
  /** Text before the value: "export NAME=". */
  readonly prefix: string;
  readonly quote: Quote;
  /** Text between the quotes. */
  readonly raw: string;
  /** Whether only a comment follows on the line. */
  readonly isWhole: boolean;
}

/** These patterns are sticky. A line that is not an assignment is skipped. */
const PREFIX = /(?:export[ \t]+)?([\w.-]+)[ \t]*[=:][ \t]*/y;
const QUOTED = /"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*'|`(?:[^`\\]|\\[^])*`/y;
const PLAIN = /[^#\r\n]*/y;
const REST = /[ \t]*(?:#.*)?(?=[\r\n]|$)/y;
const LINE_END = /[^\r\n]*(?:\r\n?|\n|$)/y;
const BLANK = /[ \t\v\f\r\n]*/y;

export function findAssignments(text: string): Assignment[] {
  const assignments: Assignment[] = [];
  let [position, line, counted] = [text.startsWith("\ufeff") ? 1 : 0, 1, 0];
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = position;
    const match = pattern.exec(text);
    if (match) position = pattern.lastIndex;
    return match;
  };
  while ((match(BLANK), position < text.length)) {
    const start = position;
    const prefix = text[start] === "#" ? null : match(PREFIX);
    if (!prefix) {
      match(LINE_END);
      continue;
    }
    line += text.slice(counted, start).match(/\r\n?|\n/g)?.length ?? 0;
    counted = start;
    const quoted = match(QUOTED)?.[0];
    const plain = quoted === undefined ? match(PLAIN)![0].trimEnd() : undefined;
    const end = start + prefix[0].length + (quoted ?? plain)!.length;
    position = end;
    const isWhole = match(REST) !== null;
    assignments.push({
      name: prefix[1]!,
      line,
      start,
      end,
      prefix: prefix[0],
      quote: (quoted?.[0] ?? "") as Quote,
      raw: quoted?.slice(1, -1) ?? plain!,
      isWhole,
    });
    match(LINE_END);
  }
  return assignments;
}

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
