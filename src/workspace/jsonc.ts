// Parses JSON with comments and trailing commas, after JSON.parse has rejected a text. It is optimized for error messages, not
// for speed.
//
// Invariants:
// - Every text that JSON.parse accepts gives the same value. Other extensions of JSON5 are rejected.
// - A member named __proto__ becomes an own property, as with JSON.parse.
// The package's main module would make a start 14 % slower.
import { visit } from "jsonc-parser/lib/esm/impl/parser.js";
import { printable } from "../printable.ts";

/** `line` and `column` count from 1, columns in UTF-16 units as editors do. */
export class JsonSyntaxError extends SyntaxError {
  readonly line: number;
  readonly column: number;

  constructor(line: number, column: number, problem: string) {
    super(problem);
    this.line = line;
    this.column = column;
  }
}

const MAX_DEPTH = 1000;
/** Characters of the text in a message. */
const MAX_SHOWN_LENGTH = 40;

/** By the library's ParseErrorCode. For other codes, the position in the text determines what was expected. */
const PROBLEMS: Readonly<Partial<Record<number, string>>> = {
  11: "expected */ to close this comment",
  12: 'expected " to close this string',
  13: "expected a digit at the end of this number",
  14: "expected four hexadecimal digits after \\u in this string",
  15: "expected a valid escape sequence after \\ in this string",
  16: "expected no control character in this string",
  7: "expected }, found the end of the file",
  8: "expected ], found the end of the file",
};

/** @throws JsonSyntaxError */
export function parseLenientJson(text: string): unknown {
  const source = text.replace(/^\ufeff/, "");
  let value: unknown;
  let name = "";
  let next: "value" | "comma" | "name" | "colon" = "value";
  const open: (unknown[] | Record<string, unknown>)[] = [];

  const add = (item: unknown) => {
    const parent = open.at(-1);
    const property = { value: item, writable: true, enumerable: true, configurable: true };
    if (Array.isArray(parent)) parent.push(item);
    else if (parent) Object.defineProperty(parent, name, property);
    else value = item;
    next = "comma";
  };
  const begin = (container: unknown[] | Record<string, unknown>, line: number, character: number) => {
    add(container);
    if (open.push(container) > MAX_DEPTH)
      throw new JsonSyntaxError(line + 1, character + 1, `expected at most ${MAX_DEPTH} nested levels`);
    next = Array.isArray(container) ? "value" : "name";
  };
  const end = () => {
    open.pop();
    next = "comma";
  };
  const describeExpected = (): string => {
    if (next === "value") return "a value";
    if (next === "name") return "a member name in double quotes or }";
    if (next === "colon") return `: after the member name "${shorten(name)}"`;
    const parent = open.at(-1);
    return parent ? `, or ${Array.isArray(parent) ? "]" : "}"}` : "the end of the file";
  };

  visit(
    source,
    {
      onObjectBegin: (_offset, _length, line, character) => begin({}, line, character),
      onArrayBegin: (_offset, _length, line, character) => begin([], line, character),
      onObjectEnd: end,
      onArrayEnd: end,
      onObjectProperty: (property) => {
        name = property;
        next = "colon";
      },
      onLiteralValue: add,
      onSeparator: (separator) => {
        next = separator === ":" || Array.isArray(open.at(-1)) ? "value" : "name";
      },
      onError: (code, offset, _length, line, character) => {
        const problem =
          PROBLEMS[code] ?? `expected ${describeExpected()}, found ${describeToken(source, offset)}`;
        throw new JsonSyntaxError(line + 1, character + 1, problem);
      },
    },
    { allowTrailingComma: true },
  );
  return value;
}

function shorten(text: string): string {
  return printable(text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}...` : text);
}

function describeToken(text: string, offset: number): string {
  const point = text.codePointAt(offset);
  if (point === undefined) return "the end of the file";
  const [word] = /^[\w$.+-]+/.exec(text.slice(offset, offset + 24)) ?? [String.fromCodePoint(point)];
  return printable(word);
}
