// Reads one word of a script line, up to the blank, operator or quote that ends it. A variable reference or command
// substitution ("$(rt secrets get shop NPM_TOKEN)") counts as one piece, including its blanks.
import { endOfReference } from "./variable-references.ts";

const END = /[\s;&|)<>"']/;

/** Returns the word without its quotes; "" if no word starts at that position or the quote is not closed. */
export function readWord(line: string, start: number): string {
  const [quote = ""] = /^["']/.exec(line.slice(start, start + 1)) ?? [];
  const begin = start + quote.length;
  let position = begin;
  while (position < line.length) {
    const character = line[position]!;
    if (quote === "" ? END.test(character) : character === quote) return line.slice(begin, position);
    // A shell substitutes nothing between single quotes.
    position = (quote === "'" ? undefined : endOfReference(line, position)) ?? position + 1;
  }
  return quote === "" ? line.slice(begin) : "";
}
