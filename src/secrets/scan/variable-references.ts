// Finds references in a value: variables ("$NPM_TOKEN", "${NPM_TOKEN}") and commands ("$(rt secrets get ...)", backquotes).
//
// Invariants:
// - Pure functions. Literal text stays, and a default replaces its reference: "${NPM_TOKEN:-npm_4f81}" becomes "npm_4f81". An
//   unclosed bracket and the backslash of "\$" are literal text.

const NAME = /\$(?:[A-Za-z_]\w*|[\d@*](?!\w))/y;
const CLOSING: Readonly<Record<string, string>> = { "(": ")", "{": "}" };
/** "${NAME:-default}" and its variants. "${NAME:?message}" has no default. */
const WITH_DEFAULT = /^\$\{\w+:?[-=+]([^]*)\}$/;
const QUOTED = /^(["'])([^]*)\1$/;
/** Characters; bounds the search in a text full of unclosed brackets. */
const MAX_REFERENCE_LENGTH = 2000;

export function stripReferences(text: string): string {
  let rest = "";
  for (let position = 0; position < text.length;) {
    const end = endOfReference(text, position);
    rest += end === undefined ? text[position] : defaultOf(text.slice(position, end));
    position = end ?? position + 1;
  }
  return rest;
}

function defaultOf(reference: string): string {
  const [, text = ""] = WITH_DEFAULT.exec(reference) ?? [];
  return stripReferences(text.replace(QUOTED, "$2"));
}

/** Returns the end of the reference that starts at a position; undefined if there is none. */
export function endOfReference(text: string, start: number): number | undefined {
  const first = text[start];
  if (first === "`") return text.indexOf("`", start + 1) + 1 || undefined;
  if (first !== "$") return undefined;
  const opening = text[start + 1]!;
  const closing = CLOSING[opening];
  if (closing === undefined) {
    NAME.lastIndex = start;
    return NAME.test(text) ? NAME.lastIndex : undefined;
  }
  let depth = 0;
  const limit = Math.min(text.length, start + MAX_REFERENCE_LENGTH);
  for (let position = start + 1; position < limit; position++) {
    if (text[position] === opening) depth++;
    else if (text[position] === closing && --depth === 0) return position + 1;
  }
  return undefined;
}
