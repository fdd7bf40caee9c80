// JSON as people write it: with // and /* */ comments and trailing commas. Only asked when JSON.parse has
// refused a text, so it is built for its errors, not for speed: each says what stood there and what should
// have. Contract: whatever JSON.parse accepts gives the same value here; nothing else of JSON5 is accepted.
//
// Surprising: a member named __proto__ becomes an own property, as with JSON.parse.

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
const DEEPEST = 1000;
/** Characters of a text that a message repeats. */
const LONGEST_SHOWN = 40;

// Matched where they are asked about, so that a long file is not copied for each number.
const BLANKS = /[ \t\r\n]*/y;
const LINE = /[^\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])/y;
const WORD = /(?:true|false|null)(?!\w)/y;
/** What a string is made of as it stands. */
const PLAIN = /[^"\\\x00-\x1f]*/y;

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}

function shorten(text: string): string {
  return printable(text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}...` : text);
}

/** Throws JsonSyntaxError. */
export function parseLenientJson(text: string): unknown {
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  let depth = 0;

  const fail = (problem: string, offset = at): never => {
    throw new JsonSyntaxError(text, offset, problem);
  };
  const found = (offset = at): string => {
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
        return fail(`expected an escape sequence in the string, found ${found(at - 1)}`, at - 1);
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
    if (++depth > DEEPEST) fail(`expected at most ${DEEPEST} nested levels`);
    at++;
    for (skipBlanks(); text[at] !== close; skipBlanks()) {
      if (at >= text.length) fail(`expected ${entry} or ${close}, found ${found()}`);
      readEntry();
      skipBlanks();
      if (text[at] === ",") at++;
      else if (text[at] !== close) fail(`expected , or ${close}, found ${found()}`);
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
        if (text[at] !== '"') fail(`expected a member name in double quotes or }, found ${found()}`);
        const key = readString();
        skipBlanks();
        if (text[at] !== ":") fail(`expected : after the member name "${shorten(key)}", found ${found()}`);
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
    return fail(`expected a value, found ${found()}`);
  }

  const value = readValue();
  skipBlanks();
  if (at < text.length) fail(`expected the end of the file, found ${found()}`);
  return value;
}
