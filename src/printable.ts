// Text from elsewhere (names of packages, scripts and credentials, errors of other programs), made fit to be printed: one
// line, in its own place, whatever is in it.
//
// Contract: what would break the line, steer a terminal, speak to a CI server at the start of a line, or turn the
// direction of writing comes out as in JSON ("\n", "\u202e"), and so does the backslash, so that two texts never look
// alike. Everything else, emoji and all scripts of the world included, stays as it is. A half of a surrogate pair, which
// no encoding has, is shown too.
//
// Surprising: a joiner (U+200D) stays, since emoji are made with it. What is printed for programs (JSON) goes through
// escapeJson, which leaves valid JSON that means the same.

/** What a terminal, a log or a reader may take for more than a letter. */
const INVISIBLE = /[\x7f-\x9f\u2028\u2029\ufeff]|\p{Bidi_Control}|\p{Surrogate}/gu;

function code(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Nearly all text is: the engine takes milliseconds to make the first pattern of the properties of characters. */
function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0x20 || unit > 0x7e) return false;
  }
  return true;
}

/** One line of text that shows what is in it. */
export function printable(text: string): string {
  return oneLine(text.replaceAll("\\", "\\\\"));
}

/** The same for what is copied from where it is shown (commands, paths in messages): a backslash stays one. */
export function oneLine(text: string): string {
  if (isPlain(text)) return text;
  return text
    .replace(/[\x00-\x1f]/g, (character) => JSON.stringify(character).slice(1, -1))
    .replace(INVISIBLE, code);
}

/** Text in quotes, for a line of several texts: no text ends its quotes early, and each blank in it is a space. */
export function quoted(text: string): string {
  return escapeJson(JSON.stringify(text)).replace(/[^\S ]/g, code);
}

/** JSON text in which nothing is invisible; it parses to the same value. */
export function escapeJson(json: string): string {
  return isPlain(json) ? json : json.replace(INVISIBLE, code);
}
