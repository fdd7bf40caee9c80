// A value in hexadecimal and base64, and with other line breaks. Quoted forms derive from printers.ts.
//
// Contract: pure, and bytes only: what is made on the way is zeroed here, what is given back by who asked for it.
//
// Surprising: each is a loop of its own, and none calls a function for a byte. The values of a script are few, but the engine
// compiles what is called some thirty times, in other threads that the start of the script then shares the processor with.

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

/** With other line breaks. The return in front of one is a part of it. */
export function withLineBreaks(value: Uint8Array, lineBreak: readonly number[]): Uint8Array {
  const scratch = new Uint8Array(value.length * 2);
  let length = 0;
  for (let at = 0; at < value.length; at += 1) {
    const byte = value[at]!;
    if (byte === RETURN && value[at + 1] === NEWLINE) continue;
    if (byte === NEWLINE) for (const each of lineBreak) scratch[length++] = each;
    else scratch[length++] = byte;
  }
  return taken(scratch, length);
}

/** With small and with capital letters. */
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

/** The letters that the value alone decides, where `lead` bytes of a group of three stand in front of it. */
export function inBase64(value: Uint8Array, lead: number): Uint8Array {
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

/** With the two letters that URLs have otherwise; undefined where there is none of them. */
export function inBase64Url(text: Uint8Array): Uint8Array | undefined {
  if (!text.includes(PLUS) && !text.includes(SLASH)) return undefined;
  const made = text.slice();
  for (let at = made.indexOf(PLUS); at >= 0; at = made.indexOf(PLUS, at)) made[at] = MINUS;
  for (let at = made.indexOf(SLASH); at >= 0; at = made.indexOf(SLASH, at)) made[at] = UNDERSCORE;
  return made;
}

function taken(scratch: Uint8Array, length: number): Uint8Array {
  const result = scratch.slice(0, length);
  scratch.fill(0);
  return result;
}
