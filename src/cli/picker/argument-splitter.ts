// Splits a line into arguments by a POSIX shell's quoting rules: quotes, and a backslash before one character. Variables and
// patterns are not expanded: `$HOME` and `*` stay literal.

/** Returns undefined for an unclosed quote. */
export function splitLine(line: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (let at = 0; at < line.length; at++) {
    const character = line[at]!;
    if (quote !== "") {
      if (character === quote) quote = "";
      else if (character === "\\" && quote === '"' && /["\\]/.test(line[at + 1] ?? "")) word += line[++at]!;
      else word += character;
    } else if (character === " " || character === "\t") {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word ??= "";
      if (character === "'" || character === '"') quote = character;
      else if (character === "\\" && at + 1 < line.length) word += line[++at]!;
      else word += character;
    }
  }
  if (quote !== "") return undefined;
  return word === undefined ? words : [...words, word];
}
