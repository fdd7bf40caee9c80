// Parses JSON with comments and trailing commas, after JSON.parse has rejected a text. It is optimized for error messages, not
// for speed.
//
// Invariants:
// - Every text that JSON.parse accepts gives the same value. Other extensions of JSON5 are rejected.
// - A member named __proto__ becomes an own property, as with JSON.parse.

import { printable } from "../printable.ts";

/** `line` and `column` count from 1, columns in UTF-16 units as editors do. */
export class JsonSyntaxError extends SyntaxError {
  readonly line: number;
  readonly column: number;

  constructor(text: string, offset: number, problem: string) {
    super(problem);
    let [line, start] = [1, 0];
    for (let end = text.indexOf("\n"); end >= 0 && end < offset; end = text.indexOf("\n", start)) {
      line++;
      start = end + 1;
    }
    this.line = line;
    this.column = offset - start + 1;
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};
const LITERALS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["true", true],
  ["false", false],
  ["null", null],
]);
const MAX_DEPTH = 1000;
/** Characters of the text in a message. */
const MAX_SHOWN_LENGTH = 40;

// Sticky patterns match at a position, so that a long file is not copied for each token.
const BLANKS = /[ \t\r\n]*/y;
const LINE = /[^\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])/y;
const WORD = /(?:true|false|null)(?!\w)/y;
/** Characters of a string without escapes. */
const PLAIN = /[^"\\\x00-\x1f]*/y;

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}

function shorten(text: string): string {
  return printable(text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}...` : text);
}

/** @throws JsonSyntaxError */
export function parseLenientJson(text: string): unknown {
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  let depth = 0;

  const fail = (problem: string, offset = at): never => {
    throw new JsonSyntaxError(text, offset, problem);
  };
  const describeToken = (offset = at): string => {
    const point = text.codePointAt(offset);
    if (point === undefined) return "the end of the file";
    const word = /^[\w$.+-]+/.exec(text.slice(offset, offset + 24));
    if (word) return word[0];
    return point < 0x20
      ? `control character U+${point.toString(16).padStart(4, "0")}`
      : printable(String.fromCodePoint(point));
  };

  function skipBlanks(): void {
    for (;;) {
      at += matchAt(BLANKS, text, at).length;
      if (text.startsWith("//", at)) {
        at += matchAt(LINE, text, at).length;
      } else if (text.startsWith("/*", at)) {
        const end = text.indexOf("*/", at + 2);
        if (end < 0) fail("expected */ to close this comment");
        at = end + 2;
      } else return;
    }
  }

  function readString(): string {
    const start = at++;
    let value = "";
    for (;;) {
      const plain = matchAt(PLAIN, text, at);
      value += plain;
      at += plain.length;
      const character = text[at];
      if (character === undefined || character === "\n")
        return fail('expected " to close this string', start);
      at++;
      if (character === '"') return value;
      if (character !== "\\")
        return fail(`expected an escape sequence in the string, found ${describeToken(at - 1)}`, at - 1);
      value += readEscape();
    }
  }

  function readEscape(): string {
    const letter = text[at++] ?? "";
    const plain = ESCAPES[letter];
    if (plain !== undefined) return plain;
    const digits = letter === "u" ? /^[0-9a-fA-F]{4}/.exec(text.slice(at, at + 4)) : null;
    if (!digits) return fail(`expected a valid escape sequence, found \\${printable(letter)}`, at - 2);
    at += 4;
    return String.fromCharCode(Number.parseInt(digits[0], 16));
  }

  /** Calls `readEntry` for each entry up to `close`; a comma may follow the last. */
  function readEntries(close: string, entry: string, readEntry: () => void): void {
    if (++depth > MAX_DEPTH) fail(`expected at most ${MAX_DEPTH} nested levels`);
    at++;
    for (skipBlanks(); text[at] !== close; skipBlanks()) {
      if (at >= text.length) fail(`expected ${entry} or ${close}, found ${describeToken()}`);
      readEntry();
      skipBlanks();
      if (text[at] === ",") at++;
      else if (text[at] !== close) fail(`expected , or ${close}, found ${describeToken()}`);
    }
    at++;
    depth--;
  }

  function readValue(): unknown {
    skipBlanks();
    const character = text[at];
    if (character === '"') return readString();
    if (character === "[") {
      const values: unknown[] = [];
      readEntries("]", "a value", () => values.push(readValue()));
      return values;
    }
    if (character === "{") {
      const value: Record<string, unknown> = {};
      readEntries("}", "a member name", () => {
        if (text[at] !== '"') fail(`expected a member name in double quotes or }, found ${describeToken()}`);
        const key = readString();
        skipBlanks();
        if (text[at] !== ":")
          fail(`expected : after the member name "${shorten(key)}", found ${describeToken()}`);
        at++;
        Object.defineProperty(value, key, {
          value: readValue(),
          writable: true,
          enumerable: true,
          configurable: true,
        });
      });
      return value;
    }
    const number = matchAt(NUMBER, text, at);
    at += number.length;
    if (number !== "") return Number(number);
    const word = matchAt(WORD, text, at);
    at += word.length;
    if (word !== "") return LITERALS.get(word);
    return fail(`expected a value, found ${describeToken()}`);
  }

  const value = readValue();
  skipBlanks();
  if (at < text.length) fail(`expected the end of the file, found ${describeToken()}`);
  return value;
}
