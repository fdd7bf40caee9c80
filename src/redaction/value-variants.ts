// All forms in which a program may write a value: unchanged, with other line breaks, quoted by a printer, in hexadecimal and
// in base64. Each line of a value of several lines has the first and the third of these forms too.
//
// Contract: pure, and bytes only, since no text of the engine's can be zeroed: what is made on the way is zeroed here, what
// is given back by who asked for it. No form is shorter than SHORTEST. A form that starts in the same way for
// everybody (a scheme, "ghp_") says how much of it may be shown before it is known what follows: that, and two bytes.
//
// Surprising: base64 is looked for without the letters that also depend on what stands before and behind the value, so
// that it is found in the middle of a longer text; they stay to be seen, which is 2 to 4 bits.
import { inBase64, inBase64Url, inHex, withLineBreaks } from "./encodings.ts";
import { SHORTEST } from "./minimum-length.ts";
import { quotedForms } from "./quoted-forms.ts";

/** Where programs may break the lines of an encoded value: behind a multiple of `every` letters, counted from `offset`. */
export interface Wrapping {
  readonly every: number;
  readonly offset: number;
}

export interface ValueVariant {
  readonly bytes: Uint8Array;
  /** How many of its bytes may be shown while it is not known whether the rest will come. */
  readonly publicLength: number;
  /** Undefined if the form is in one piece. */
  readonly wrapping?: Wrapping | undefined;
}

/** None for what is shorter than SHORTEST without the line breaks at its end. */
export function variantsOf(secret: Uint8Array): ValueVariant[] {
  const value = withoutEnd(secret);
  if (value.length < SHORTEST) return [];
  const forms: ValueVariant[] = [];
  addForms(forms, textForms(value), publicStart(value));
  for (const line of linesOf(value)) addForms(forms, textForms(line), 0);
  addEncodings(forms, value);
  return forms;
}

/** @param start what of each is known to everybody */
function addForms(
  forms: ValueVariant[],
  made: readonly Uint8Array[],
  start: number,
  wrapping?: Wrapping,
): void {
  for (const bytes of made) {
    if (bytes.length < SHORTEST) bytes.fill(0);
    else forms.push({ bytes, publicLength: Math.min(start + 2, bytes.length >> 1), wrapping });
  }
}

/** What begins as the value does. */
function textForms(value: Uint8Array): Uint8Array[] {
  const made: Uint8Array[] = [value.slice()];
  if (value.includes(NEWLINE))
    made.push(withLineBreaks(value, [NEWLINE]), withLineBreaks(value, [RETURN, NEWLINE]));
  return [...made, ...quotedForms(value)];
}

function addEncodings(forms: ValueVariant[], value: Uint8Array): void {
  addForms(forms, inHex(value), 0, { every: 2, offset: 0 });
  for (const lead of [0, 1, 2]) {
    const text = inBase64(value, lead);
    const urlText = inBase64Url(text);
    // The first letter of the form is not the first letter of its group of four.
    const wrapping = { every: 4, offset: -Math.ceil((lead * 8) / 6) };
    // In a URL, and in JSON with "\/".
    addForms(forms, quotedForms(text), 0);
    addForms(forms, urlText ? [text, urlText] : [text], 0, wrapping);
  }
  const encoded = inBase64(value, 0);
  for (const lead of [0, 1, 2]) addForms(forms, [inBase64(encoded, lead)], 0);
  encoded.fill(0);
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const BACKSLASH = 0x5c;
const LETTER_N = 0x6e;

/** $(...) takes the line breaks at the end away, and so do people. */
function withoutEnd(value: Uint8Array): Uint8Array {
  let end = value.length;
  while (end > 0 && (value[end - 1] === NEWLINE || value[end - 1] === RETURN)) end -= 1;
  return value.subarray(0, end);
}

/** Without the space around them, and without the lines that say what a key is. A key in JSON has lines that end with "\n". */
function linesOf(value: Uint8Array): Uint8Array[] {
  const isKey = Buffer.from(value.buffer, value.byteOffset, value.length).includes("-----BEGIN ");
  if (!isKey && !value.includes(NEWLINE)) return [];
  const lines: Uint8Array[] = [];
  let start = 0;
  const add = (from: number, to: number) => {
    let [first, end] = [from, to];
    while (first < end && value[first]! <= SPACE) first += 1;
    while (end > first && value[end - 1]! <= SPACE) end -= 1;
    const line = value.subarray(first, end);
    if (end - first >= SHORTEST && end - first < value.length && !startsWith(line, "-----")) lines.push(line);
  };
  let isParted = false;
  let lineStart = 0;
  for (let at = 0; at <= value.length; at += 1) {
    const isEnd = at === value.length || value[at] === NEWLINE;
    const isEscaped = isKey && value[at] === BACKSLASH && value[at + 1] === LETTER_N;
    if (!isEnd && !isEscaped) continue;
    add(start, at);
    start = isEscaped ? at + 2 : at + 1;
    if (isEscaped) isParted = true;
    if (!isEnd) continue;
    if (isParted) add(lineStart, at);
    isParted = false;
    lineStart = start;
  }
  return lines;
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
  const end = schemeEnd(value);
  if (end > 0) return end;
  let longest = 0;
  for (const start of KNOWN_STARTS)
    if (start.length > longest && start.charCodeAt(0) === value[0] && startsWith(value, start))
      longest = start.length;
  return longest;
}

const COLON = 0x3a;
const SLASH = 0x2f;

/** Behind the "://" of "postgres://", "mongodb+srv://"; 0 where there is none. */
function schemeEnd(value: Uint8Array): number {
  const end = value.indexOf(COLON);
  if (end < 1 || value[end + 1] !== SLASH || value[end + 2] !== SLASH) return 0;
  for (let at = 0; at < end; at += 1) {
    const byte = value[at]!;
    const letter = byte | 0x20;
    const isPlain = (letter >= 0x61 && letter <= 0x7a) || (byte >= 0x30 && byte <= 0x39);
    if (!isPlain && byte !== 0x2b && byte !== 0x2d && byte !== 0x2e) return 0;
  }
  return end + 3;
}

function startsWith(value: Uint8Array, start: string): boolean {
  if (value.length < start.length) return false;
  for (let at = 0; at < start.length; at += 1) if (value[at] !== start.charCodeAt(at)) return false;
  return true;
}
