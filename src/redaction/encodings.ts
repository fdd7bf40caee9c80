// Encodes a value in hexadecimal and base64, and with other line breaks. Quoted variants derive from printers.ts.
//
// Invariants:
// - Pure functions on bytes. Intermediate buffers are zeroized here; the caller zeroizes results.
//
// Non-obvious:
// - Each encoding is one loop without a call per byte. A function that runs about thirty times is compiled by engine threads,
//   which then compete with the start of the script for the processor.

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const PLUS = 0x2b;
const MINUS = 0x2d;
const SLASH = 0x2f;
const UNDERSCORE = 0x5f;

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

const LOWER = bytesOf("0123456789abcdef");
const UPPER = bytesOf("0123456789ABCDEF");

/** Replaces the line breaks "\n" and "\r\n". */
export function withLineBreaks(value: Uint8Array, lineBreak: readonly number[]): Uint8Array {
  const scratch = new Uint8Array(value.length * 2);
  let length = 0;
  for (let at = 0; at < value.length; at += 1) {
    const byte = value[at]!;
    if (byte === RETURN && value[at + 1] === NEWLINE) continue;
    if (byte === NEWLINE) for (const each of lineBreak) scratch[length++] = each;
    else scratch[length++] = byte;
  }
  return shrink(scratch, length);
}

/** Returns the lower-case and the upper-case encoding. */
export function inHex(value: Uint8Array): [Uint8Array, Uint8Array] {
  const lower = new Uint8Array(value.length * 2);
  const upper = new Uint8Array(value.length * 2);
  for (let at = 0; at < value.length; at += 1) {
    const byte = value[at]!;
    lower[at * 2] = LOWER[byte >> 4]!;
    upper[at * 2] = UPPER[byte >> 4]!;
    lower[at * 2 + 1] = LOWER[byte & 15]!;
    upper[at * 2 + 1] = UPPER[byte & 15]!;
  }
  return [lower, upper];
}

const BASE64 = bytesOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");

/**
 * Returns the base64 letters that depend on the value only.
 * @param lead bytes (0 to 2) of the same group of three that precede the value
 */
export function inBase64(value: Uint8Array, lead: number): Uint8Array {
  const size = lead + value.length;
  const letters = new Uint8Array(Math.ceil(size / 3) * 4);
  let end = 0;
  for (let at = -lead; at < value.length; at += 3) {
    // Bytes outside the value count as 0.
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

/** Converts to the URL alphabet; returns undefined if the text is the same in both alphabets. */
export function inBase64Url(text: Uint8Array): Uint8Array | undefined {
  if (!text.includes(PLUS) && !text.includes(SLASH)) return undefined;
  const converted = text.slice();
  for (let at = converted.indexOf(PLUS); at >= 0; at = converted.indexOf(PLUS, at)) converted[at] = MINUS;
  for (let at = converted.indexOf(SLASH); at >= 0; at = converted.indexOf(SLASH, at))
    converted[at] = UNDERSCORE;
  return converted;
}

function shrink(scratch: Uint8Array, length: number): Uint8Array {
  const result = scratch.slice(0, length);
  scratch.fill(0);
  return result;
}
