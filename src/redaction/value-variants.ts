// Generates all variants of a value that a program may print. They are the unchanged value, other line breaks, quoted text,
// hexadecimal and base64. Each line of a multi-line value has unchanged and quoted variants too.
//
// Invariants:
// - Pure functions on bytes, because strings cannot be zeroized. The caller zeroizes the results.
// - No variant is shorter than MIN_REDACTED_LENGTH. A well-known prefix ("ghp_", a scheme) and two more bytes are public.
//
// Non-obvious: base64 variants omit the letters that also depend on the surrounding bytes. A value is then found inside a longer
// encoded text. The omitted letters stay visible, which reveals 2 to 4 bits.
import { inBase64, inBase64Url, inHex, withLineBreaks } from "./encodings.ts";
import { MIN_REDACTED_LENGTH } from "./minimum-length.ts";
import { quotedVariants } from "./quoted-variants.ts";

/** Possible line breaks of an encoded value: after a multiple of `every` letters, counted from `offset`. */
export interface Wrapping {
  readonly every: number;
  readonly offset: number;
}

export interface ValueVariant {
  readonly bytes: Uint8Array;
  /** Number of leading bytes that may be shown before the rest arrives. */
  readonly publicLength: number;
  /** Undefined if the variant has no line breaks. */
  readonly wrapping?: Wrapping | undefined;
}

/** Returns no variants for a value that is too short without its trailing line breaks. */
export function variantsOf(secret: Uint8Array): ValueVariant[] {
  const value = trimLineBreaks(secret);
  if (value.length < MIN_REDACTED_LENGTH) return [];
  const variants: ValueVariant[] = [];
  addVariants(variants, textVariants(value), publicStart(value));
  for (const line of linesOf(value)) addVariants(variants, textVariants(line), 0);
  addEncodings(variants, value);
  return variants;
}

/** @param start number of public bytes at the start of each */
function addVariants(
  variants: ValueVariant[],
  texts: readonly Uint8Array[],
  start: number,
  wrapping?: Wrapping,
): void {
  for (const bytes of texts) {
    if (bytes.length < MIN_REDACTED_LENGTH) bytes.fill(0);
    else variants.push({ bytes, publicLength: Math.min(start + 2, bytes.length >> 1), wrapping });
  }
}

function textVariants(value: Uint8Array): Uint8Array[] {
  const texts: Uint8Array[] = [value.slice()];
  if (value.includes(NEWLINE))
    texts.push(withLineBreaks(value, [NEWLINE]), withLineBreaks(value, [RETURN, NEWLINE]));
  return [...texts, ...quotedVariants(value)];
}

function addEncodings(variants: ValueVariant[], value: Uint8Array): void {
  addVariants(variants, inHex(value), 0, { every: 2, offset: 0 });
  for (const lead of [0, 1, 2]) {
    const text = inBase64(value, lead);
    const urlText = inBase64Url(text);
    // The first letter of the variant is not the first letter of its group of four.
    const wrapping = { every: 4, offset: -Math.ceil((lead * 8) / 6) };
    // The quoted variants are those in a URL, and in JSON with "\/".
    addVariants(variants, quotedVariants(text), 0);
    addVariants(variants, urlText ? [text, urlText] : [text], 0, wrapping);
  }
  for (const inner of [0, 1, 2]) {
    const encoded = inBase64(value, inner);
    for (const lead of [0, 1, 2]) addVariants(variants, [inBase64(encoded, lead)], 0);
    encoded.fill(0);
  }
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const BACKSLASH = 0x5c;
const LETTER_N = 0x6e;

/** Removes trailing line breaks, as the shell's $(...) and many users do. */
function trimLineBreaks(value: Uint8Array): Uint8Array {
  let end = value.length;
  while (end > 0 && (value[end - 1] === NEWLINE || value[end - 1] === RETURN)) end -= 1;
  return value.subarray(0, end);
}

/** Returns the trimmed lines, without the header lines of a PEM key. In a PEM key, "\n" may be written as an escape. */
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
    if (end - first >= MIN_REDACTED_LENGTH && end - first < value.length && !startsWith(line, "-----"))
      lines.push(line);
  };
  let isSplit = false;
  let lineStart = 0;
  for (let at = 0; at <= value.length; at += 1) {
    const isEnd = at === value.length || value[at] === NEWLINE;
    const isEscaped = isKey && value[at] === BACKSLASH && value[at + 1] === LETTER_N;
    if (!isEnd && !isEscaped) continue;
    add(start, at);
    start = isEscaped ? at + 2 : at + 1;
    if (isEscaped) isSplit = true;
    if (!isEnd) continue;
    if (isSplit) add(lineStart, at);
    isSplit = false;
    lineStart = start;
  }
  return lines;
}

/** Well-known prefixes of tokens, which are public. */
const PUBLIC_PREFIXES = [
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
  for (const start of PUBLIC_PREFIXES)
    if (start.length > longest && start.charCodeAt(0) === value[0] && startsWith(value, start))
      longest = start.length;
  return longest;
}

const COLON = 0x3a;
const SLASH = 0x2f;

/** Returns the position after "://" of "postgres://" or "mongodb+srv://"; 0 without a scheme. */
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
