// A word of a script's line, as far as it can be a value: up to the blank, operator or quote that ends it, where a command or
// variable that is mentioned ("$(rt secrets get shop NPM_TOKEN)") is one piece, blanks and all.
import { endOfMention } from "./variable-references.ts";

const END = /[\s;&|)<>"']/;

/** Without the quotes around it; empty where nothing begins at that place, or the quote has no end. */
export function readWord(line: string, start: number): string {
  const [quote = ""] = /^["']/.exec(line.slice(start, start + 1)) ?? [];
  const begin = start + quote.length;
  let position = begin;
  while (position < line.length) {
    const character = line[position]!;
    if (quote === "" ? END.test(character) : character === quote) return line.slice(begin, position);
    // Between single quotes a shell puts nothing in.
    position = (quote === "'" ? undefined : endOfMention(line, position)) ?? position + 1;
  }
  return quote === "" ? line.slice(begin) : "";
}
