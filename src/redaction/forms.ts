// The ways in which a value may be written: as it is, with other line ends, each of its lines, and in the encodings that
// programs use without being asked (JSON, URLs, hex, base64).
//
// Contract: pure, and bytes only, since no text of the engine's can be zeroed: what is made on the way is zeroed here, what
// is given back by who asked for it. No form is shorter than SHORTEST. A form that starts in the same way for
// everybody (a scheme, "ghp_") says how much of it may be shown before it is known what follows: that, and two bytes.
//
// Surprising: base64 is looked for without the letters that also depend on what stands before and behind the value, so
// that it is found in the middle of a longer text; they stay to be seen, which is 2 to 4 bits.

/** Bytes. What is shorter is found everywhere. */
export const SHORTEST = 8;

export interface Form {
  readonly bytes: Uint8Array;
  /** How many of its bytes may be shown while it is not known whether the rest will come. */
  readonly publicLength: number;
}

/** None for what is shorter than SHORTEST without the line breaks at its end. */
export function formsOf(secret: Uint8Array): Form[] {
  const value = withoutEnd(secret);
  if (value.length < SHORTEST) return [];
  const known = publicStart(value);
  const forms: Form[] = [];
  const add = (bytes: Uint8Array, start = 0) => {
    if (bytes.length < SHORTEST) return bytes.fill(0);
    forms.push({ bytes, publicLength: Math.min(start + 2, bytes.length >> 1) });
  };
  add(value.slice(), known);
  if (value.includes(NEWLINE)) {
    add(encode(value, 2, breakLines([NEWLINE])), known);
    add(encode(value, 2, breakLines([RETURN, NEWLINE])), known);
    for (const line of linesOf(value)) add(line.slice());
  }
  for (const style of JSON_STYLES) add(encode(value, 6, inJson(style)), known);
  for (const style of URL_STYLES)
    for (const digits of [LOWER, UPPER]) add(encode(value, 3, inUrl(style, digits)), known);
  for (const digits of [LOWER, UPPER]) {
    const hex = encode(value, 2, (byte, put) => put(digits[byte >> 4]!, digits[byte & 15]!));
    for (const line of wrapped(hex, HEX_WIDTH)) add(line);
    add(hex);
  }
  for (const alphabet of [BASE64, BASE64URL]) {
    for (const lead of [0, 1, 2]) {
      const text = inBase64(value, lead, alphabet);
      if (lead === 0) for (const width of BASE64_WIDTHS) for (const line of wrapped(text, width)) add(line);
      add(text);
    }
  }
  return forms;
}

const NEWLINE = 10;
const RETURN = 13;

/** $(...) takes the line breaks at the end away, and so do people. */
function withoutEnd(value: Uint8Array): Uint8Array {
  let end = value.length;
  while (end > 0 && (value[end - 1] === NEWLINE || value[end - 1] === RETURN)) end -= 1;
  return value.subarray(0, end);
}

/** Without the space around them, and without the lines that say what a key is. */
function linesOf(value: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let start = 0; start < value.length;) {
    const found = value.indexOf(NEWLINE, start);
    let end = found < 0 ? value.length : found;
    const next = end + 1;
    while (start < end && value[start]! <= SPACE) start += 1;
    while (end > start && value[end - 1]! <= SPACE) end -= 1;
    const line = value.subarray(start, end);
    if (!startsWith(line, "-----")) lines.push(line);
    start = next;
  }
  return lines;
}

const SPACE = 0x20;

type Put = (...bytes: number[]) => void;

/** @param growth bytes that one byte may become */
function encode(value: Uint8Array, growth: number, each: (byte: number, put: Put, at: number) => void) {
  const scratch = new Uint8Array(value.length * growth);
  let length = 0;
  const put: Put = (...bytes) => {
    for (const byte of bytes) scratch[length++] = byte;
  };
  for (let at = 0; at < value.length; at += 1) each(value[at]!, put, at);
  const result = scratch.slice(0, length);
  scratch.fill(0);
  return result;
}

function bytesOf(text: string): number[] {
  return [...new TextEncoder().encode(text)];
}

const LOWER = bytesOf("0123456789abcdef");
const UPPER = bytesOf("0123456789ABCDEF");

/** The return in front of a line break is a part of it. */
function breakLines(lineBreak: readonly number[]) {
  let isAfterReturn = false;
  return (byte: number, put: Put) => {
    if (isAfterReturn && byte !== NEWLINE) put(RETURN);
    isAfterReturn = byte === RETURN;
    if (byte === NEWLINE) put(...lineBreak);
    else if (!isAfterReturn) put(byte);
  };
}

interface JsonStyle {
  /** Characters that JSON lets be, written as \u.... */
  readonly escaped?: string;
  readonly isAscii?: boolean;
  readonly slash?: boolean;
}

/** JavaScript, PHP, Go, Python. */
const JSON_STYLES: readonly JsonStyle[] = [{}, { slash: true }, { escaped: "<>&" }, { isAscii: true }];

const JSON_LETTERS = new Map([
  [8, "\\b"],
  [9, "\\t"],
  [NEWLINE, "\\n"],
  [12, "\\f"],
  [RETURN, "\\r"],
  [0x22, '\\"'],
  [0x5c, "\\\\"],
]);

function inJson({ escaped = "", isAscii, slash }: JsonStyle) {
  let code = 0;
  let missing = 0;
  const unit = (put: Put, value: number) =>
    put(
      0x5c,
      0x75,
      LOWER[value >> 12]!,
      LOWER[(value >> 8) & 15]!,
      LOWER[(value >> 4) & 15]!,
      LOWER[value & 15]!,
    );
  return (byte: number, put: Put) => {
    if (isAscii && byte >= 0x80) {
      if (byte >= 0xc0) {
        missing = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1;
        code = byte & (0x3f >> missing);
        return;
      }
      code = (code << 6) | (byte & 0x3f);
      missing -= 1;
      if (missing !== 0) return;
      if (code >= 0x10000) unit(put, 0xd800 + ((code - 0x10000) >> 10));
      unit(put, code >= 0x10000 ? 0xdc00 + (code & 0x3ff) : code);
      return;
    }
    const letter = JSON_LETTERS.get(byte);
    if (letter) put(...bytesOf(letter));
    else if (byte < SPACE || escaped.includes(String.fromCharCode(byte))) unit(put, byte);
    else if (slash && byte === 0x2f) put(0x5c, byte);
    else put(byte);
  };
}

interface UrlStyle {
  /** What stays as it is, beside letters and digits. */
  readonly plain: string;
  readonly plus?: boolean;
}

/** encodeURIComponent, forms, RFC 3986, Python's quote. */
const URL_STYLES: readonly UrlStyle[] = [
  { plain: "-_.!~*'()" },
  { plain: "-_.*", plus: true },
  { plain: "-_.~" },
  { plain: "-_.~/" },
];

function inUrl({ plain, plus }: UrlStyle, digits: readonly number[]) {
  return (byte: number, put: Put) => {
    if (plus && byte === SPACE) put(0x2b);
    else if (isAlphanumeric(byte) || plain.includes(String.fromCharCode(byte))) put(byte);
    else put(0x25, digits[byte >> 4]!, digits[byte & 15]!);
  };
}

function isAlphanumeric(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);
}

const ALPHANUMERIC = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const BASE64 = bytesOf(`${ALPHANUMERIC}+/`);
const BASE64URL = bytesOf(`${ALPHANUMERIC}-_`);

/** The letters that the value alone decides, where `lead` bytes of a group of three stand in front of it. */
function inBase64(value: Uint8Array, lead: number, alphabet: readonly number[]): Uint8Array {
  const first = Math.ceil((lead * 8) / 6);
  const end = Math.floor(((lead + value.length) * 8) / 6);
  const text = new Uint8Array(end - first);
  for (let letter = first; letter < end; letter += 1) {
    const bit = letter * 6 - lead * 8;
    const at = bit >> 3;
    const pair = (value[at]! << 8) | (value[at + 1] ?? 0);
    text[letter - first] = alphabet[(pair >> (10 - (bit & 7))) & 63]!;
  }
  return text;
}

/** Letters in a line: what `base64` and openssl write, and `xxd -p`. */
const BASE64_WIDTHS = [76, 64];
const HEX_WIDTH = 60;

/** In lines of so many letters, with either line break; nothing where one line holds all. */
function wrapped(text: Uint8Array, width: number): Uint8Array[] {
  if (text.length <= width) return [];
  return [[NEWLINE], [RETURN, NEWLINE]].map((lineBreak) =>
    encode(text, 3, (byte, put, at) => {
      if (at > 0 && at % width === 0) put(...lineBreak);
      put(byte);
    }),
  );
}

/** Beginnings that many values have, by which people know what they are. */
const KNOWN_STARTS = [
  ...[
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "npm_",
    "pypi-",
    "AKIA",
    "ASIA",
    "AIza",
  ],
  ...[
    "sk-ant-",
    "sk-proj-",
    "sk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "pk_live_",
    "whsec_",
    "xoxb-",
    "xoxp-",
  ],
  ...["eyJ", "dop_v1_", "hf_", "SG.", "Bearer ", "Basic "],
];

function publicStart(value: Uint8Array): number {
  if (startsWith(value, "-----BEGIN ")) return Math.max(0, value.indexOf(NEWLINE) + 1);
  let end = 0;
  while (end < value.length && isOfScheme(value[end]!)) end += 1;
  if (end > 0 && startsWith(value.subarray(end), "://")) return end + 3;
  return Math.max(0, ...KNOWN_STARTS.filter((start) => startsWith(value, start)).map(({ length }) => length));
}

/** "postgres", "mongodb+srv" */
function isOfScheme(byte: number): boolean {
  return isAlphanumeric(byte) || byte === 0x2b || byte === 0x2d || byte === 0x2e;
}

function startsWith(value: Uint8Array, start: string): boolean {
  if (value.length < start.length) return false;
  for (let at = 0; at < start.length; at += 1) if (value[at] !== start.charCodeAt(at)) return false;
  return true;
}
