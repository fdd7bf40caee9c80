// Splits a TOML file into statements, each with its comments, so that a program can move them.
//
// Invariants: the file has been parsed without an error.
import { nameIn } from "../toml-line.ts";

export interface TomlStatement {
  /** Names from the root: those of the table and of the key. */
  readonly path: readonly string[];
  readonly isTable: boolean;
  /** Offset of the first comment line directly above, or of the statement. */
  readonly start: number;
  /** Offset behind the line end. */
  readonly end: number;
  /** Comment lines directly above, each with its line end. */
  readonly comments: string;
  /** The value as written; "" for a table. */
  readonly value: string;
  /** The comment behind it, from the "#"; "" without one. */
  readonly trailing: string;
}

export function readStatements(text: string): TomlStatement[] {
  const statements: TomlStatement[] = [];
  let table: readonly string[] = [];
  let comments: number | undefined;
  for (let at = 0; at < text.length;) {
    const lineEnd = endOfLine(text, at);
    const line = text.slice(at, lineEnd);
    if (line.trim() === "" || line.trimStart().startsWith("#")) {
      comments = line.trim() === "" ? undefined : (comments ?? at);
      at = lineEnd + 1;
      continue;
    }
    const name = nameIn(line);
    // A line of an array of tables, which no key of rtfig.toml has.
    if (!name) throw new Error("a line of TOML without a name");
    const { end, comment } = scanValue(text, at + name.end);
    if (name.isTable) table = name.parts;
    const start = comments ?? at;
    statements.push({
      path: name.isTable ? table : [...table, ...name.parts],
      isTable: name.isTable,
      start,
      end: Math.min(end + 1, text.length),
      comments: text.slice(start, at),
      value: name.isTable ? "" : text.slice(at + name.end, comment ?? end).trim(),
      trailing: comment === undefined ? "" : text.slice(comment, end).trimEnd(),
    });
    comments = undefined;
    at = end + 1;
  }
  return statements;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}

/** Finds the end of a value's last line, and the comment behind the value. */
function scanValue(text: string, from: number): { readonly end: number; readonly comment?: number } {
  let depth = 0;
  let comment: number | undefined;
  for (let at = from; at < text.length; at += 1) {
    const character = text[at]!;
    if (character === "\n" && depth === 0) return comment === undefined ? { end: at } : { end: at, comment };
    if (character === "#") {
      if (depth === 0) comment = at;
      at = endOfLine(text, at) - 1;
    } else if (character === '"' || character === "'") at = endOfString(text, at) - 1;
    else if (character === "[" || character === "{") depth += 1;
    else if (character === "]" || character === "}") depth -= 1;
  }
  return comment === undefined ? { end: text.length } : { end: text.length, comment };
}

/** Returns the offset behind the closing quotes. */
function endOfString(text: string, from: number): number {
  const quote = text[from]!;
  const triple = quote.repeat(3);
  const closing = text.startsWith(triple, from) ? triple : quote;
  for (let at = from + closing.length; at < text.length; at += 1) {
    if (quote === '"' && text[at] === "\\") at += 1;
    else if (text.startsWith(closing, at)) {
      // Up to two quotes may precede the closing ones of a multi-line string.
      let end = at + closing.length;
      while (closing === triple && text[end] === quote) end += 1;
      return end;
    }
  }
  return text.length;
}
