// A value in the encodings that programs use without being asked: JSON, URLs, HTML, hex, base64, and lines that are broken
// otherwise or at some width.
//
// Contract: pure, and bytes only: what is made on the way is zeroed here, what is given back by who asked for it.
//
// Surprising: each is a loop of its own, and none calls a function for a byte. The values of a script are few, but the engine
// compiles what is called some thirty times, in other threads that the start of the script then shares the processor with.

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const PLUS = 0x2b;
const MINUS = 0x2d;
const DOT = 0x2e;
const SLASH = 0x2f;
const BACKSLASH = 0x5c;
const UNDERSCORE = 0x5f;

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

const LOWER = bytesOf("0123456789abcdef");
const UPPER = bytesOf("0123456789ABCDEF");

/** Where the bytes stand that JSON, a URL or HTML may change: most tokens have none. */
export function specialPlaces(value: Uint8Array): number[] {
  const places: number[] = [];
  for (let at = 0; at < value.length; at += 1) {
    const byte = value[at]!;
    const letter = byte | 0x20;
    const isPlain = (letter >= 0x61 && letter <= 0x7a) || (byte >= 0x30 && byte <= 0x39);
    if (!isPlain && byte !== MINUS && byte !== DOT && byte !== UNDERSCORE) places.push(at);
  }
  return places;
}

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

/** In lines of so many letters, with either line break. */
export function wrapped(text: Uint8Array, width: number): Uint8Array[] {
  const breaks = Math.ceil(text.length / width) - 1;
  return [[NEWLINE], [RETURN, NEWLINE]].map((lineBreak) => {
    const lines = new Uint8Array(text.length + breaks * lineBreak.length);
    for (let from = 0, at = 0; from < text.length; from += width) {
      if (from > 0) lines.set(lineBreak, at - lineBreak.length);
      lines.set(text.subarray(from, from + width), at);
      at += width + lineBreak.length;
    }
    return lines;
  });
}

interface JsonStyle {
  /** Characters that JSON lets be, written as \u.... */
  readonly escaped?: readonly number[];
  readonly isAscii?: boolean;
  readonly slash?: boolean;
  /** The digits of \u.... are capital letters. */
  readonly isUpper?: boolean;
  /** It is put into JSON once more, as a text. */
  readonly isNested?: boolean;
}

/** JavaScript, PHP, Go, Gson, Python; PHP and .NET by themselves; and JavaScript and Python in a field of another JSON. */
const JSON_STYLES: readonly JsonStyle[] = [
  {},
  { slash: true },
  { escaped: [0x3c, 0x3e, 0x26] },
  { escaped: [0x3c, 0x3e, 0x26, 0x3d, 0x27] },
  { isAscii: true },
  { isAscii: true, slash: true },
  { isAscii: true, isUpper: true, escaped: [0x22, 0x26, 0x27, PLUS, 0x3c, 0x3e, 0x60, 0x7f] },
  { isNested: true },
  { isNested: true, isAscii: true },
];

/** Behind a backslash, by what they stand for: \b, \t, \n, \f, \r, the quotation mark, and itself. */
const JSON_LETTERS: Readonly<Record<number, number>> = {
  ...{ 8: 0x62, 9: 0x74, [NEWLINE]: 0x6e, 12: 0x66, [RETURN]: 0x72 },
  ...{ 0x22: 0x22, [BACKSLASH]: BACKSLASH },
};

/** @param places of what may change */
export function inJson(value: Uint8Array, places: readonly number[]): Uint8Array[] {
  return JSON_STYLES.map((style) => {
    const written = writeJson(value, places, style);
    if (!style.isNested) return written;
    const again = writeJson(written, specialPlaces(written), {});
    written.fill(0);
    return again;
  });
}

function writeJson(
  value: Uint8Array,
  places: readonly number[],
  { escaped, isAscii, slash, isUpper }: JsonStyle,
): Uint8Array {
  const digits = isUpper ? UPPER : LOWER;
  const scratch = new Uint8Array(value.length + places.length * 6);
  let length = 0;
  let from = 0;
  let code = 0;
  let missing = 0;
  for (const at of places) {
    if (at > from) scratch.set(value.subarray(from, at), length);
    length += at - from;
    from = at + 1;
    const byte = value[at]!;
    const letter = JSON_LETTERS[byte];
    if (isAscii && byte >= 0x80) {
      if (byte >= 0xc0) {
        missing = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1;
        code = byte & (0x3f >> missing);
        continue;
      }
      code = (code << 6) | (byte & 0x3f);
      missing -= 1;
      if (missing !== 0) continue;
      if (code >= 0x10000) length = writeUnit(scratch, length, 0xd800 + ((code - 0x10000) >> 10), digits);
      length = writeUnit(scratch, length, code >= 0x10000 ? 0xdc00 + (code & 0x3ff) : code, digits);
    } else if (escaped?.includes(byte)) length = writeUnit(scratch, length, byte, digits);
    else if (letter !== undefined) {
      scratch[length++] = BACKSLASH;
      scratch[length++] = letter;
    } else if (byte < SPACE) length = writeUnit(scratch, length, byte, digits);
    else {
      if (slash && byte === SLASH) scratch[length++] = BACKSLASH;
      scratch[length++] = byte;
    }
  }
  scratch.set(value.subarray(from), length);
  return taken(scratch, length + value.length - from);
}

/** As \u....; gives the place behind it. */
function writeUnit(scratch: Uint8Array, at: number, unit: number, digits: Uint8Array): number {
  scratch[at] = BACKSLASH;
  scratch[at + 1] = 0x75;
  for (let digit = 0; digit < 4; digit += 1)
    scratch[at + 2 + digit] = digits[(unit >> (12 - 4 * digit)) & 15]!;
  return at + 6;
}

interface UrlStyle {
  /** What stays as it is, beside letters, digits and "-._". */
  readonly plain: Uint8Array;
  readonly plus?: boolean;
}

/** encodeURIComponent, forms, RFC 3986, Python's quote, encodeURI; a user's name and password in a URL, and its query. */
const URL_STYLES: readonly UrlStyle[] = [
  { plain: bytesOf("!~*'()") },
  { plain: bytesOf("*"), plus: true },
  { plain: bytesOf("~") },
  { plain: bytesOf("~/") },
  { plain: bytesOf("!~*'();/?:@&=+$,#") },
  { plain: bytesOf("!$&'()*+,~%") },
  { plain: bytesOf("!$%&()*+,/:;=?@[\\]^`{|}~") },
];

/** @param places of what may change */
export function inUrl(value: Uint8Array, places: readonly number[]): Uint8Array[] {
  const made: Uint8Array[] = [];
  for (const { plain, plus } of URL_STYLES)
    for (const digits of [LOWER, UPPER]) {
      const scratch = new Uint8Array(value.length + places.length * 2);
      let length = 0;
      let from = 0;
      let hasLetters = false;
      for (const at of places) {
        if (at > from) scratch.set(value.subarray(from, at), length);
        length += at - from;
        from = at + 1;
        const byte = value[at]!;
        if (plus && byte === SPACE) scratch[length++] = PLUS;
        else if (plain.includes(byte)) scratch[length++] = byte;
        else {
          scratch[length++] = 0x25;
          scratch[length++] = digits[byte >> 4]!;
          scratch[length++] = digits[byte & 15]!;
          hasLetters ||= byte >> 4 > 9 || (byte & 15) > 9;
        }
      }
      scratch.set(value.subarray(from), length);
      // As it is, the value is known already.
      if (length > from || plus) made.push(scratch.slice(0, length + value.length - from));
      scratch.fill(0);
      if (!hasLetters) break;
    }
  return made;
}

const QUOTATION = 0x22;
const APOSTROPHE = 0x27;
const MARKUP: Readonly<Record<number, Uint8Array>> = {
  0x26: bytesOf("&amp;"),
  0x3c: bytesOf("&lt;"),
  0x3e: bytesOf("&gt;"),
};

/** What stands for a quotation mark and an apostrophe: in text, attributes, lodash, React and Python, PHP, XML, Go and Jinja. */
const HTML_STYLES: readonly Readonly<Record<number, Uint8Array | undefined>>[] = [
  ["", ""],
  ["&quot;", ""],
  ["&quot;", "&#39;"],
  ["&quot;", "&#x27;"],
  ["&quot;", "&#039;"],
  ["&quot;", "&apos;"],
  ["&#34;", "&#39;"],
].map(([quotation, apostrophe]) => ({
  ...MARKUP,
  [QUOTATION]: quotation ? bytesOf(quotation) : undefined,
  [APOSTROPHE]: apostrophe ? bytesOf(apostrophe) : undefined,
}));

/** Also as XML. @param places of what may change */
export function inHtml(value: Uint8Array, places: readonly number[]): Uint8Array[] {
  let isMarkup = false;
  let isQuoted = false;
  for (const at of places) {
    const byte = value[at]!;
    if (byte === QUOTATION || byte === APOSTROPHE) isQuoted = true;
    else if (MARKUP[byte]) isMarkup = true;
  }
  // As it is, the value is known already.
  const styles = HTML_STYLES.slice(isMarkup ? 0 : 1, isQuoted ? HTML_STYLES.length : 1);
  return styles.map((style) => {
    const scratch = new Uint8Array(value.length + places.length * 5);
    let length = 0;
    let from = 0;
    for (const at of places) {
      const written = style[value[at]!];
      if (!written) continue;
      scratch.set(value.subarray(from, at), length);
      length += at - from;
      from = at + 1;
      scratch.set(written, length);
      length += written.length;
    }
    scratch.set(value.subarray(from), length);
    return taken(scratch, length + value.length - from);
  });
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
