// The ways in which a value may be written: as it is, with other line ends, each of its lines, and in the encodings that
// programs use without being asked (JSON, URLs, HTML, hex, base64).
//
// Contract: pure, and bytes only, since no text of the engine's can be zeroed: what is made on the way is zeroed here, what
// is given back by who asked for it. No form is shorter than SHORTEST. A form that starts in the same way for
// everybody (a scheme, "ghp_") says how much of it may be shown before it is known what follows: that, and two bytes.
//
// Surprising: base64 is looked for without the letters that also depend on what stands before and behind the value, so
// that it is found in the middle of a longer text; they stay to be seen, which is 2 to 4 bits.
import {
  inBase64,
  inBase64Url,
  inHex,
  inHtml,
  inJson,
  inUrl,
  specialPlaces,
  withLineBreaks,
  wrapped,
} from "./encodings.ts";
import { SHORTEST } from "./length.ts";

export interface Form {
  readonly bytes: Uint8Array;
  /** How many of its bytes may be shown while it is not known whether the rest will come. */
  readonly publicLength: number;
}

/** Letters in a line: what `base64` and openssl write, and `xxd -p`. */
const BASE64_WIDTHS = [76, 64];
const HEX_WIDTH = 60;

/** None for what is shorter than SHORTEST without the line breaks at its end. */
export function formsOf(secret: Uint8Array): Form[] {
  const value = withoutEnd(secret);
  if (value.length < SHORTEST) return [];
  const forms: Form[] = [];
  addForms(forms, alike(value), publicStart(value));
  addForms(forms, unlike(value), 0);
  return forms;
}

/** @param start what of each is known to everybody */
function addForms(forms: Form[], made: readonly Uint8Array[], start: number): void {
  for (const bytes of made) {
    if (bytes.length < SHORTEST) bytes.fill(0);
    else forms.push({ bytes, publicLength: Math.min(start + 2, bytes.length >> 1) });
  }
}

/** What begins as the value does. */
function alike(value: Uint8Array): Uint8Array[] {
  const made: Uint8Array[] = [value.slice()];
  if (value.includes(NEWLINE))
    made.push(withLineBreaks(value, [NEWLINE]), withLineBreaks(value, [RETURN, NEWLINE]));
  const places = specialPlaces(value);
  if (places.length > 0)
    made.push(...inJson(value, places), ...inUrl(value, places), ...inHtml(value, places));
  return made;
}

function unlike(value: Uint8Array): Uint8Array[] {
  const made: Uint8Array[] = value.includes(NEWLINE) ? linesOf(value) : [];
  for (const hex of inHex(value)) {
    if (hex.length > HEX_WIDTH) made.push(...wrapped(hex, HEX_WIDTH));
    made.push(hex);
  }
  for (const lead of [0, 1, 2]) {
    const text = inBase64(value, lead);
    const urlText = inBase64Url(text);
    for (const each of urlText ? [text, urlText] : [text]) {
      for (const width of lead === 0 ? BASE64_WIDTHS : [])
        if (each.length > width) made.push(...wrapped(each, width));
      made.push(each);
    }
  }
  return made;
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;

/** $(...) takes the line breaks at the end away, and so do people. */
function withoutEnd(value: Uint8Array): Uint8Array {
  let end = value.length;
  while (end > 0 && (value[end - 1] === NEWLINE || value[end - 1] === RETURN)) end -= 1;
  return value.subarray(0, end);
}

/** Copies, without the space around them, and without the lines that say what a key is. */
function linesOf(value: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let start = 0; start < value.length;) {
    const found = value.indexOf(NEWLINE, start);
    let end = found < 0 ? value.length : found;
    const next = end + 1;
    while (start < end && value[start]! <= SPACE) start += 1;
    while (end > start && value[end - 1]! <= SPACE) end -= 1;
    const line = value.subarray(start, end);
    if (!startsWith(line, "-----")) lines.push(line.slice());
    start = next;
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
