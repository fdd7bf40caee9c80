// Where a file goes wrong whose parser tells no lines, as the engine's for TOML and YAML do not.

/** Characters to be parsed for an exact answer. */
const MOST_PARSED = 1 << 22;

/**
 * The line at which a file that cannot be parsed goes wrong: what follows the longest beginning that can be. Of a long
 * file, what follows one such beginning, which halving finds; it may end above a list of several lines.
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
  if (lines.length * text.length > MOST_PARSED) {
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
