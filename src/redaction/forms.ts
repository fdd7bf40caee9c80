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
  const places = specialPlaces(value);
  if (places.length > 0) {
    for (const style of JSON_STYLES) add(encodeAt(places, value, 6, inJson(style)), known);
    for (const style of URL_STYLES)
      for (const digits of [LOWER, UPPER]) add(encodeAt(places, value, 3, inUrl(style, digits)), known);
  }
  for (const hex of inHex(value)) {
    for (const line of wrapped(hex, HEX_WIDTH)) add(line);
    add(hex);
  }
  for (const lead of [0, 1, 2]) {
    const text = inBase64(value, lead);
    const urlText = inBase64Url(text);
    for (const each of urlText ? [text, urlText] : [text]) {
      if (lead === 0) for (const width of BASE64_WIDTHS) for (const line of wrapped(each, width)) add(line);
      add(each);
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

/** Where the bytes stand that some way of writing changes: most tokens have none. */
function specialPlaces(value: Uint8Array): number[] {
  const places: number[] = [];
  for (let at = 0; at < value.length; at += 1) {
    const byte = value[at]!;
    if (!isAlphanumeric(byte) && byte !== 0x2d && byte !== 0x2e && byte !== 0x5f) places.push(at);
  }
  return places;
}

/** As `encode`, of a way of writing that leaves all other places as they are. */
function encodeAt(
  places: readonly number[],
  value: Uint8Array,
  growth: number,
  each: (byte: number, put: Put, at: number) => void,
) {
  const scratch = new Uint8Array(value.length + places.length * growth);
  let length = 0;
  let from = 0;
  const put: Put = (...bytes) => {
    for (const byte of bytes) scratch[length++] = byte;
  };
  const copyTo = (end: number) => {
    if (end === from) return;
    scratch.set(value.subarray(from, end), length);
    length += end - from;
  };
  for (const at of places) {
    copyTo(at);
    each(value[at]!, put, at);
    from = at + 1;
  }
  copyTo(value.length);
  const result = scratch.slice(0, length);
  scratch.fill(0);
  return result;
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

const LOWER = bytesOf("0123456789abcdef");
const UPPER = bytesOf("0123456789ABCDEF");

/** With small and with capital letters. */
function inHex(value: Uint8Array): [Uint8Array, Uint8Array] {
  const lower = new Uint8Array(value.length * 2);
  const upper = new Uint8Array(value.length * 2);
  let end = 0;
  for (const byte of value) {
    lower[end] = LOWER[byte >> 4]!;
    upper[end] = UPPER[byte >> 4]!;
    lower[end + 1] = LOWER[byte & 15]!;
    upper[end + 1] = UPPER[byte & 15]!;
    end += 2;
  }
  return [lower, upper];
}

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

function inUrl({ plain, plus }: UrlStyle, digits: Uint8Array) {
  return (byte: number, put: Put) => {
    if (plus && byte === SPACE) put(0x2b);
    else if (isAlphanumeric(byte) || plain.includes(String.fromCharCode(byte))) put(byte);
    else put(0x25, digits[byte >> 4]!, digits[byte & 15]!);
  };
}

function isAlphanumeric(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);
}

const BASE64 = bytesOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");

/** The letters that the value alone decides, where `lead` bytes of a group of three stand in front of it. */
function inBase64(value: Uint8Array, lead: number): Uint8Array {
  const size = lead + value.length;
  const letters = new Uint8Array(Math.ceil(size / 3) * 4);
  let end = 0;
  for (let at = -lead; at < value.length; at += 3) {
    // Outside the value there is nothing, which is 0 here.
    const group = ((value[at] ?? 0) << 16) | ((value[at + 1] ?? 0) << 8) | (value[at + 2] ?? 0);
    letters[end] = BASE64[group >> 18]!;
    letters[end + 1] = BASE64[(group >> 12) & 63]!;
    letters[end + 2] = BASE64[(group >> 6) & 63]!;
    letters[end + 3] = BASE64[group & 63]!;
    end += 4;
  }
  const text = letters.slice(Math.ceil((lead * 8) / 6), Math.floor((size * 8) / 6));
  letters.fill(0);
  return text;
}

const PLUS = 0x2b;
const SLASH = 0x2f;

/** With the two letters that URLs have otherwise; undefined where there is none of them. */
function inBase64Url(text: Uint8Array): Uint8Array | undefined {
  if (!text.includes(PLUS) && !text.includes(SLASH)) return undefined;
  return text.map((letter) => (letter === PLUS ? 0x2d : letter === SLASH ? 0x5f : letter));
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
