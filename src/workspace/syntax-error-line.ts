// Finds the line of a syntax error for parsers that report no position: the engine's parsers for TOML and YAML.

/** Characters that are parsed in total before the search becomes approximate. */
const MAX_PARSED = 1 << 22;

/**
 * Returns the line after the longest prefix that can be parsed. For a long file a binary search finds one such prefix, which
 * may end above a list of several lines.
 */
export function lineOfSyntaxError(text: string, parse: (text: string) => unknown): number {
  const lines = text.split("\n");
  const canParse = (length: number): boolean => {
    try {
      parse(lines.slice(0, length).join("\n"));
      return true;
    } catch {
      return false;
    }
  };
  let length = lines.length - 1;
  if (lines.length * text.length > MAX_PARSED) {
    let [good, bad] = [0, lines.length];
    while (bad - good > 1) {
      const middle = (good + bad) >> 1;
      if (canParse(middle)) good = middle;
      else bad = middle;
    }
    length = good;
  }
  while (length > 0 && !canParse(length)) length -= 1;
  return firstStatement(lines, length) + 1;
}

function firstStatement(lines: readonly string[], from: number): number {
  const index = lines.findIndex((line, position) => position >= from && !/^\s*(?:#.*)?$/.test(line));
  return index < 0 ? from : index;
}
