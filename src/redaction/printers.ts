// Lists the quoting rules of programs that print values. All quoted variants of a value derive from them.
//
// Invariants:
// - A rule is a function of one character. It returns the printed text, or undefined if the printer leaves the character
//   unchanged. Letters, digits, "-", "." and "_" are unchanged in every rule.
// - The names of rules are stable: test/redaction/printers.test.ts runs the real program of each rule.

/** @param code the code point. @param next the byte after it, for printers that escape "${" but not "$". */
export type Printer = (code: number, next: number) => string | undefined;

type Escape = (code: number) => string | undefined;
type Escapes = Readonly<Record<string, string>>;

const QUOTE: Escapes = { '"': '\\"' };
const APOSTROPHE: Escapes = { "'": "\\'" };
const BACKSLASH: Escapes = { "\\": "\\\\" };
const LINES: Escapes = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
const BACKSPACE: Escapes = { "\b": "\\b", "\f": "\\f" };
const BELL: Escapes = { "\x07": "\\a", "\v": "\\v" };
const C_LETTERS: Escapes = { ...BACKSLASH, ...LINES, ...BACKSPACE, ...BELL };
const JSON_LETTERS: Escapes = { ...QUOTE, ...BACKSLASH, ...LINES, ...BACKSPACE };
const JS_LETTERS: Escapes = { ...BACKSLASH, ...LINES, ...BACKSPACE, "\v": "\\v" };

const digits = (code: number, length: number) => code.toString(16).padStart(length, "0");
const hex: Escape = (code) => `\\x${digits(code, 2)}`;
const hexUpper: Escape = (code) => `\\x${digits(code, 2).toUpperCase()}`;
const octal: Escape = (code) => `\\${code.toString(8).padStart(3, "0")}`;
const shortOctal: Escape = (code) => `\\${code.toString(8)}`;
const decimal: Escape = (code) => `\\${code}`;
const unit: Escape = (code) => `\\u${digits(code, 4)}`;
/** JSON has no escape for the last control character. */
const jsonControl: Escape = (code) => (code === 0x7f ? undefined : unit(code));
const braces: Escape = (code) => `\\u{${code.toString(16)}}`;
const unitUpper: Escape = (code) => `\\u${digits(code, 4).toUpperCase()}`;
const same: Escape = () => undefined;
const caret = (code: number) => (code === 0x7f ? "^?" : `^${String.fromCharCode(code + 0x40)}`);
/** The notation of `cat -v` for a byte outside ASCII. */
const meta: Escape = (byte) => {
  const low = byte & 0x7f;
  return `M-${low < 0x20 || low === 0x7f ? caret(low) : String.fromCharCode(low)}`;
};

/** One or two UTF-16 code units. */
const units =
  (write: Escape): Escape =>
  (code) =>
    code < 0x10000
      ? write(code)
      : `${write(0xd800 + ((code - 0x10000) >> 10))}${write(0xdc00 + (code & 0x3ff))}`;

/** Escapes every UTF-8 byte of the character. */
const bytes =
  (write: Escape): Escape =>
  (code) =>
    [...new TextEncoder().encode(String.fromCodePoint(code))].map(write).join("");

/** The shortest of three escapes, as in Python's ascii() and YAML's double quotes. */
const shortest: Escape = (code) =>
  code < 0x100 ? hex(code) : code < 0x10000 ? unit(code) : `\\U${digits(code, 8)}`;

/** @param control escapes control characters that are not in `escapes` @param beyond escapes characters outside ASCII */
function escaping(escapes: Escapes, control: Escape = same, beyond: Escape = same): Printer {
  const table = new Map(Object.entries(escapes).map(([character, text]) => [character.charCodeAt(0), text]));
  return (code) => {
    if (code >= 0x80) return beyond(code);
    return table.get(code) ?? (code < 0x20 || code === 0x7f ? control(code) : undefined);
  };
}

function backslashed(characters: string, others: Escapes = {}): Escapes {
  return { ...Object.fromEntries([...characters].map((each) => [each, `\\${each}`])), ...others };
}

/** Escapes a character before certain followers only: "#{" or "${", but not "#" or "$" alone. */
function escapingBefore(character: string, followers: string, printer: Printer): Printer {
  return (code, next) =>
    code === character.charCodeAt(0) && followers.includes(String.fromCharCode(next))
      ? `\\${character}`
      : printer(code, next);
}

/** @param plain ASCII characters that stay unchanged, besides those of every rule */
function percent(plain: string, isUpper = true, space = "%20"): Printer {
  const write: Escape = (byte) => `%${isUpper ? digits(byte, 2).toUpperCase() : digits(byte, 2)}`;
  const all = bytes(write);
  return (code) => {
    if (code === 0x20) return space;
    const isPlain =
      code < 0x80 &&
      (UNRESERVED.test(String.fromCharCode(code)) || plain.includes(String.fromCharCode(code)));
    return isPlain ? undefined : all(code);
  };
}

const UNRESERVED = /[a-z0-9._-]/i;

const MARKUP: Escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

function markup(quote?: string, apostrophe?: string, others: Escapes = {}): Printer {
  const escapes = { ...MARKUP, ...others };
  if (quote) Object.assign(escapes, { '"': quote });
  if (apostrophe) Object.assign(escapes, { "'": apostrophe });
  return escaping(escapes);
}

/** Combines two printers: `outer` prints the text that `inner` printed. */
export function nested(outer: Printer, inner: Printer): Printer {
  return (code, next) => {
    const text = inner(code, next);
    if (text === undefined) return outer(code, next);
    let written = "";
    for (let at = 0; at < text.length; at += 1)
      written += outer(text.charCodeAt(at), text.charCodeAt(at + 1)) ?? text[at]!;
    return written;
  };
}

const json = escaping(JSON_LETTERS, jsonControl);
const jsonForHtml = escaping(
  { ...JSON_LETTERS, "<": "\\u003c", ">": "\\u003e", "&": "\\u0026" },
  jsonControl,
);
const jsonAscii = escaping(JSON_LETTERS, unit, units(unit));
const javascript = escaping(JS_LETTERS, hexUpper);
const python = escaping({ ...BACKSLASH, ...LINES }, hex);
const pythonQuoted = escaping({ ...BACKSLASH, ...LINES, ...APOSTROPHE }, hex);
const shellSingle = escaping({ "'": "'\\''" });
const component = percent("!~*'()");
const attribute = markup("&quot;", "&#39;");

/** Characters that bash escapes with a backslash in words without control characters. */
const SHELL_WORD = " '\"\\|&;()<>!{}*[]?^$`,";

export const PRINTERS = {
  // JSON
  JSON: json,
  "JSON with \\/": escaping({ ...JSON_LETTERS, "/": "\\/" }, jsonControl),
  "JSON in ASCII": jsonAscii,
  "JSON in ASCII with \\/": escaping({ ...JSON_LETTERS, "/": "\\/" }, jsonControl, units(unit)),
  "JSON in ASCII of Ruby": escaping(JSON_LETTERS, jsonControl, units(unit)),
  "JSON for HTML": jsonForHtml,
  "JSON for HTML without \\b": escaping(
    { ...QUOTE, ...BACKSLASH, ...LINES, "<": "\\u003c", ">": "\\u003e", "&": "\\u0026" },
    jsonControl,
  ),
  "JSON of Gson": escaping(
    {
      ...JSON_LETTERS,
      ...{ "<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "=": "\\u003d", "'": "\\u0027" },
    },
    unit,
  ),
  "JSON of PHP for HTML": escaping(
    {
      ...JSON_LETTERS,
      ...{ '"': "\\u0022", "<": "\\u003C", ">": "\\u003E", "&": "\\u0026", "'": "\\u0027", "/": "\\/" },
    },
    unit,
    units(unit),
  ),
  "JSON of .NET": escaping(
    {
      ...JSON_LETTERS,
      ...{ '"': "\\u0022", "&": "\\u0026", "'": "\\u0027", "+": "\\u002B", "<": "\\u003C" },
      ...{ ">": "\\u003E", "`": "\\u0060", "\x7f": "\\u007F" },
    },
    unitUpper,
    units(unitUpper),
  ),

  // JavaScript
  "JavaScript without its quote": javascript,
  "JavaScript '": escaping({ ...JS_LETTERS, ...APOSTROPHE }, hexUpper),
  'JavaScript "': escaping({ ...JS_LETTERS, ...QUOTE }, hexUpper),
  "JavaScript `": escapingBefore(
    "$",
    "{",
    escaping({ ...BACKSLASH, ...BACKSPACE, "`": "\\`", "\r": "\\r", "\v": "\\v" }, hexUpper),
  ),
  "JavaScript ` with $": escaping({ ...JS_LETTERS, "`": "\\`", $: "\\$" }, hexUpper),
  "JavaScript in ASCII": escaping({ ...JS_LETTERS, ...QUOTE }, hexUpper, (code) =>
    code < 0x100 ? hexUpper(code) : units(unitUpper)(code),
  ),

  // Python
  "Python repr": python,
  "Python repr with \\'": pythonQuoted,
  "Python ascii": escaping({ ...BACKSLASH, ...LINES }, hex, shortest),
  "Python ascii with \\'": escaping({ ...BACKSLASH, ...LINES, ...APOSTROPHE }, hex, shortest),
  "Python bytes": escaping({ ...BACKSLASH, ...LINES }, hex, bytes(hex)),
  "Python bytes with \\'": escaping({ ...BACKSLASH, ...LINES, ...APOSTROPHE }, hex, bytes(hex)),

  // shells
  "shell '": shellSingle,
  "shell ' with \"'\"": escaping({ "'": "'\"'\"'" }),
  'shell "': escaping({ ...backslashed('"\\$`') }),
  'shell " with !': escaping({ ...backslashed('"\\$`!') }),
  "shell $'": escaping({ ...C_LETTERS, ...APOSTROPHE, "\x1b": "\\E" }, octal),
  "shell $' in ASCII": escaping({ ...C_LETTERS, ...APOSTROPHE, "\x1b": "\\E" }, octal, bytes(octal)),
  "shell ' of zsh": escaping({ "'": "\\''" }),
  "shell ' of coreutils": escaping(
    { "'": "'\\''", "\n": "'$'\\n''", "\t": "'$'\\t''", "\r": "'$'\\r''" },
    (code) => `'$'${octal(code)}''`,
  ),
  "shell $' of zsh with !": escaping({ ...C_LETTERS, ...APOSTROPHE, "!": "\\!" }, octal),
  "shell $' of zsh": escaping({ ...C_LETTERS, ...APOSTROPHE, "\x1b": "\\C-[" }, (code) =>
    code === 0x7f ? "\\C-?" : `\\C-${String.fromCharCode(code + 0x40)}`,
  ),
  "shell $' of ksh": escaping({ ...BACKSLASH, ...LINES, ...BACKSPACE, ...APOSTROPHE, "\x1b": "\\E" }, hex),
  "shell word": escaping(backslashed(SHELL_WORD)),
  "shell word with all": escaping(backslashed(`${SHELL_WORD}#~=%@:+/`)),
  "shell word of zsh": escaping(
    backslashed(" '\"\\|&;()<>{}*[]?^$`#", { "\n": "$'\\n'", "\t": "$'\\t'", "\r": "$'\\r'" }),
    (code) => `$'${octal(code)}'`,
  ),
  "shell word of Ruby": (code) => {
    if (code === 0x0a) return "'\n'";
    const character = String.fromCodePoint(code);
    return /[A-Za-z0-9_\-.,:+/@]/.test(character) ? undefined : `\\${character}`;
  },
  "shell word of fish": escaping(
    backslashed(" '\"\\|&;()<>{}*[]?$#%~", { ...LINES, ...BACKSPACE, ...BELL, "\x1b": "\\e" }),
    (code) => `\\c${String.fromCharCode(code + 0x60)}`,
  ),
  "fish set --show": escaping(
    { ...BACKSLASH, ...LINES, ...BACKSPACE, ...BELL, "\x1b": "\\e" },
    (code) => `\\c${String.fromCharCode(code + 0x60)}`,
  ),
  "shell ' of fish": escaping(backslashed("'\\")),
  "PowerShell, SQL and YAML '": escaping({ "'": "''" }),
  'PowerShell "': escaping({ '"': '`"', "`": "``", $: "`$" }),
  'CSV "': escaping({ '"': '""' }),

  // other languages
  "Go %q": escaping({ ...C_LETTERS, ...QUOTE }, hex),
  "Go %+q": escaping({ ...C_LETTERS, ...QUOTE }, hex, (code) =>
    code < 0x10000 ? unit(code) : `\\U${digits(code, 8)}`,
  ),
  "Rust Debug": escaping({ ...BACKSLASH, ...LINES, ...QUOTE }, braces),
  "Rust escape_debug": escaping({ ...BACKSLASH, ...LINES, ...QUOTE, ...APOSTROPHE }, braces),
  "Rust escape_default": escaping({ ...BACKSLASH, ...LINES, ...QUOTE, ...APOSTROPHE }, braces, braces),
  "Ruby inspect": escapingBefore(
    "#",
    "{$@",
    escaping({ ...C_LETTERS, ...QUOTE, "\x1b": "\\e", "\x7f": "\\x7F" }, unit),
  ),
  "Ruby inspect of bytes": escapingBefore(
    "#",
    "{$@",
    escaping({ ...C_LETTERS, ...QUOTE, "\x1b": "\\e" }, hexUpper, bytes(hexUpper)),
  ),
  "Ruby dump": escapingBefore(
    "#",
    "{$@",
    escaping({ ...C_LETTERS, ...QUOTE, "\x1b": "\\e" }, hexUpper, (code) =>
      code < 0x10000 ? unitUpper(code) : `\\u{${code.toString(16).toUpperCase()}}`,
    ),
  ),
  'YAML "': escaping({ ...C_LETTERS, ...QUOTE, "\x1b": "\\e" }, hexUpper, (code) =>
    shortest(code)!.replace(/[0-9a-f]+$/, (number) => number.toUpperCase()),
  ),
  'YAML " with letters': escaping({ ...C_LETTERS, ...QUOTE, "\x1b": "\\e" }, hexUpper, (code) =>
    code < 0x10000 ? undefined : `\\U${digits(code, 8).toUpperCase()}`,
  ),
  "Perl and PHP '": escaping(backslashed("'\\")),
  'Perl "': escaping(
    { ...backslashed('"\\$@'), ...LINES, ...BACKSPACE, "\x07": "\\a", "\x1b": "\\e" },
    shortOctal,
    bytes(shortOctal),
  ),
  "PHP addslashes": escaping(backslashed("'\"\\")),
  "Lua %q": escaping({ ...QUOTE, ...BACKSLASH, "\n": "\\\n" }, decimal),
  "C string": escaping({ ...C_LETTERS, ...QUOTE }, octal, bytes(octal)),
  "C string of strace": escaping(
    { ...BACKSLASH, ...LINES, "\f": "\\f", "\v": "\\v", ...QUOTE },
    shortOctal,
    bytes(shortOctal),
  ),
  "jq @tsv": escaping({ ...BACKSLASH, ...LINES }),
  "cat -A": escaping({ "\n": "$\n" }, caret, bytes(meta)),
  "cat -v": escaping({ "\n": "\n", "\t": "\t" }, caret, bytes(meta)),
  "C string with '": escaping({ ...C_LETTERS, ...QUOTE, ...APOSTROPHE }, octal),

  // URLs
  "URL component": component,
  "URL component, small digits": percent("!~*'()", false),
  "URL form": percent("*", true, "+"),
  "URL form, small digits": percent("*", false, "+"),
  "URL form of PHP": percent("", true, "+"),
  "URL path of Go": percent("$&+=:@~"),
  "URL user of Go": percent("$&+=;,~"),
  "URL form with ~": percent("~", true, "+"),
  "URL of RFC 3986": percent("~"),
  "URL of RFC 3986, small digits": percent("~", false),
  "URL of RFC 3986 without ~": percent(""),
  "URL path": percent("~/"),
  "URL path, small digits": percent("~/", false),
  "URL whole": percent("!~*'();/?:@&=+$,#"),
  "URL whole, small digits": percent("!~*'();/?:@&=+$,#", false),
  "URL user": percent("!$&'()*+,~%"),
  "URL query": percent("!$%&()*+,/:;=?@[\\]^`{|}~"),

  // HTML and XML
  "HTML text": markup(),
  "HTML attribute": markup("&quot;"),
  "HTML &#39;": attribute,
  "HTML &#x27;": markup("&quot;", "&#x27;"),
  "HTML &#039;": markup("&quot;", "&#039;"),
  XML: markup("&quot;", "&apos;"),
  "HTML &#34;": markup("&#34;", "&#39;"),
  "HTML of Mustache": markup("&quot;", "&#39;", { "/": "&#x2F;", "`": "&#x60;", "=": "&#x3D;" }),
  "HTML of Handlebars": markup("&quot;", "&#x27;", { "`": "&#x60;", "=": "&#x3D;" }),
  "XML attribute": markup("&quot;", undefined, { "\n": "&#10;", "\r": "&#13;", "\t": "&#9;" }),

  // one in another
  "JSON in JSON": nested(json, json),
  "JSON in ASCII in JSON": nested(json, jsonAscii),
  "JSON in JSON in ASCII": nested(jsonAscii, json),
  "JSON in JSON in JSON": nested(json, nested(json, json)),
  "JSON in JavaScript": nested(javascript, json),
  "JSON in JavaScript '": nested(escaping({ ...JS_LETTERS, ...APOSTROPHE }, hexUpper), json),
  "JSON in ASCII in Python": nested(python, jsonAscii),
  "JSON in shell '": nested(shellSingle, json),
  "JSON in Python": nested(python, json),
  "JSON in Python with \\'": nested(pythonQuoted, json),
  "JSON in ASCII in Python with \\'": nested(pythonQuoted, jsonAscii),
  "JSON for HTML in JSON for HTML": nested(jsonForHtml, jsonForHtml),
  "JSON in a URL": nested(component, json),
  "JSON in a URL form": nested(percent("*", true, "+"), json),
  "JSON in HTML": nested(attribute, json),
  "JSON in HTML attribute": nested(markup("&quot;"), json),
  "JSON in HTML &#x27;": nested(markup("&quot;", "&#x27;"), json),
  "JSON in HTML &#039;": nested(markup("&quot;", "&#039;"), json),
  "JSON in HTML &#34;": nested(markup("&#34;", "&#39;"), json),
  "URL in a URL": nested(component, component),
  "URL in a URL, small digits": nested(percent("!~*'()", false), percent("!~*'()", false)),
  "URL form in a URL": nested(component, percent("*", true, "+")),
  "URL of RFC 3986 in a URL": nested(percent("~"), percent("~")),
} satisfies Readonly<Record<string, Printer>>;
