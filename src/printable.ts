// Makes text of other origin (names of packages, scripts and credentials, errors of other programs) safe to print on one line.
//
// Invariants:
// - Line breaks, terminal control characters, bidirectional controls and lone surrogates are escaped as in JSON.
// - A CI service reads no command (`::error`, `##[group]`) in the result.
// - printable() also escapes the backslash, so two different texts never look alike.
//
// Non-obvious:
// - A joiner (U+200D) stays, because emoji contain it.

/** Characters that a terminal or log may interpret, or that are invisible. */
const INVISIBLE = /[\x7f-\x9f\u2028\u2029\ufeff]|\p{Bidi_Control}|\p{Surrogate}/gu;

function code(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** JSON text of printable ASCII, as long as a plan of thousands of tasks. */
const PLAIN_JSON = /^[\n -~]*$/;

/** Fast path for printable ASCII: the engine takes milliseconds to compile the first pattern with Unicode properties. */
function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0x20 || unit > 0x7e) return false;
  }
  return true;
}

/**
 * Escapes the commands of GitHub Actions, Azure Pipelines and TeamCity. They read `::name` at the start of a line, also after
 * blanks; and `##[name`, `##vso[` or `##teamcity[` anywhere in a line.
 */
function escapeServiceCommands(text: string): string {
  if (!text.includes("::") && !text.includes("##")) return text;
  return text
    .replace(/^\s*::(?=[a-z])/i, (start) => `${start.slice(0, -2)}\\u003a:`)
    .replace(/##(?=[a-z]*\[)/gi, "\\u0023#");
}

/** Returns the text on one line, with an unambiguous notation for escaped characters. */
export function printable(text: string): string {
  return oneLine(text.replaceAll("\\", "\\\\"));
}

/** Like printable(), but keeps backslashes: for text that users copy, such as commands and paths. */
export function oneLine(text: string): string {
  if (isPlain(text)) return escapeServiceCommands(text);
  return escapeServiceCommands(text)
    .replace(/[\x00-\x1f]/g, (character) => JSON.stringify(character).slice(1, -1))
    .replace(INVISIBLE, code);
}

/** Returns the text in quotes, for a line of several texts. Quotes inside are escaped; the only white space is U+0020. */
export function quoted(text: string): string {
  return escapeJson(JSON.stringify(text)).replace(/[^\S ]/g, code);
}

/** Escapes invisible characters in JSON text; the result parses to the same value. */
export function escapeJson(json: string): string {
  const visible = PLAIN_JSON.test(json) ? json : json.replace(INVISIBLE, code);
  return escapeServiceCommands(visible); // in JSON a "#" is inside a string
}
