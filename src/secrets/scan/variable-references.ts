// What a value only mentions: variables ("$NPM_TOKEN", "${NPM_TOKEN}") and commands ("$(rt secrets get ...)", and between
// backquotes), which have their values from elsewhere.
//
// Contract: pure. What stands in the text itself is kept, and so is what a variable is where it is not set:
// "${NPM_TOKEN:-npm_4f81}" becomes "npm_4f81". A bracket that is never closed is a letter, and so is the backslash of "\$".

const NAME = /\$(?:[A-Za-z_]\w*|[\d@*](?!\w))/y;
const CLOSING: Readonly<Record<string, string>> = { "(": ")", "{": "}" };
/** In braces: "NAME:-default" and the like; of "NAME:?message" nothing is a value. */
const WITH_DEFAULT = /^\$\{\w+:?[-=+]([^]*)\}$/;
const QUOTED = /^(["'])([^]*)\1$/;
/** Characters; so a text full of brackets that are never closed takes no longer than another. */
const LONGEST = 2000;

export function withoutMentions(text: string): string {
  let rest = "";
  for (let position = 0; position < text.length;) {
    const end = endOfMention(text, position);
    rest += end === undefined ? text[position] : defaultOf(text.slice(position, end));
    position = end ?? position + 1;
  }
  return rest;
}

function defaultOf(mention: string): string {
  const [, text = ""] = WITH_DEFAULT.exec(mention) ?? [];
  return withoutMentions(text.replace(QUOTED, "$2"));
}

/** Undefined where none begins at that place. */
export function endOfMention(text: string, start: number): number | undefined {
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
  const limit = Math.min(text.length, start + LONGEST);
  for (let position = start + 1; position < limit; position++) {
    if (text[position] === opening) depth++;
    else if (text[position] === closing && --depth === 0) return position + 1;
  }
  return undefined;
}
