// Translates a `node` command line for the engine, when rt is called as node (script/path-shims.ts).
//
// Non-obvious: the engine supports most node options when it is called node, but not code from stdin. With -e it
// treats the first argument as a file name and drops it.

const TAKES_VALUE = ["-r", "--require", "--import", "-C", "--conditions"];
const TAKES_CODE = ["-e", "--eval", "-p", "--print", "-pe"];
/** Dropped by the engine instead of the first argument. */
const PLACEHOLDER = "[eval]";

export interface NodeCall {
  readonly argv: readonly string[];
  /** The name that the engine is called by: "node" enables node's behaviour. */
  readonly name: "node" | "rt";
}

export function translateNodeWords(words: readonly string[], readsTerminal: boolean): NodeCall {
  if (words[0] === "-" || (words.length === 0 && !readsTerminal))
    return { argv: ["run", "-", ...words.slice(1)], name: "rt" };
  let hasCode = false;
  let index = 0;
  while (index < words.length && words[index]!.startsWith("-") && words[index] !== "--") {
    const word = words[index]!;
    const takesCode = TAKES_CODE.includes(word);
    hasCode ||= takesCode;
    index += takesCode || TAKES_VALUE.includes(word) ? 2 : 1;
  }
  if (!hasCode) return { argv: words, name: "node" };
  return { argv: [...words.slice(0, index), PLACEHOLDER, ...words.slice(index)], name: "node" };
}
