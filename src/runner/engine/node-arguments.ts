// The command line of `node` in the words of the engine, where rt is called by that name (see script/stand-ins.ts).
//
// The engine knows most of node's ways when it is called so, but not standard input, and with -e it takes the
// first argument for the name of a file, which is then missing in the program's own.

const TAKES_VALUE = ["-r", "--require", "--import", "-C", "--conditions"];
const TAKES_CODE = ["-e", "--eval", "-p", "--print", "-pe"];
/** What the engine drops. */
const PLACEHOLDER = "[eval]";

export interface NodeCall {
  readonly argv: readonly string[];
  /** What the engine is called: "node" for node's ways. */
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
