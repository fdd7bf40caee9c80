// JSON as people write it: with // and /* */ comments and trailing commas. Only asked when JSON.parse has
// refused a text, so it is built for its errors, not for speed: each says what stood there and what should
// have. Contract: whatever JSON.parse accepts gives the same value here; nothing else of JSON5 is accepted.
//
// Surprising: a member named __proto__ becomes an own property, as with JSON.parse.

/** `line` and `column` count from 1, columns in UTF-16 units as editors do. */
export class JsonSyntaxError extends SyntaxError {
  readonly line: number;
  readonly column: number;

  constructor(text: string, offset: number, problem: string) {
    super(problem);
    const before = text.slice(0, offset);
    this.line = before.split("\n").length;
    this.column = offset - before.lastIndexOf("\n");
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
      : String.fromCodePoint(point);
  };

  function skipBlanks(): void {
    for (;;) {
      while (/[ \t\r\n]/.test(text[at] ?? "")) at++;
      if (text.startsWith("//", at)) {
        const end = text.indexOf("\n", at);
        at = end < 0 ? text.length : end;
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
      const character = text[at];
      if (character === undefined || character === "\n")
        return fail('expected " to close this string', start);
      at++;
      if (character === '"') return value;
      if (character === "\\") value += readEscape();
      else if (character < " ")
        return fail(`expected an escape sequence in the string, found ${found(at - 1)}`, at - 1);
      else value += character;
    }
  }

  function readEscape(): string {
    const letter = text[at++] ?? "";
    const plain = ESCAPES[letter];
    if (plain !== undefined) return plain;
    const digits = letter === "u" ? /^[0-9a-fA-F]{4}/.exec(text.slice(at, at + 4)) : null;
    if (!digits) return fail(`expected a valid escape sequence, found \\${letter}`, at - 2);
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
        if (text[at] !== ":")
          fail(`expected : after the member name ${JSON.stringify(key)}, found ${found()}`);
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
    const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])/.exec(text.slice(at));
    if (number) {
      at += number[0].length;
      return Number(number[0]);
    }
    const word = /^\w+/.exec(text.slice(at, at + 8))?.[0];
    if (word !== undefined && LITERALS.has(word)) {
      at += word.length;
      return LITERALS.get(word);
    }
    return fail(`expected a value, found ${found()}`);
  }

  const value = readValue();
  skipBlanks();
  if (at < text.length) fail(`expected the end of the file, found ${found()}`);
  return value;
}
