// The words after `rt secrets` and `rt doctor`: options from a table, and the rest.
//
// Surprising: a message never repeats a word in full that may be a value typed in the wrong place.
import { printable } from "../printable.ts";
import { type Flag, FLAGS } from "./commands.ts";

export interface Words {
  readonly options: ReadonlySet<string>;
  readonly operands: readonly string[];
}

/** The user's command line is wrong; `hint` is what to write instead. */
export class WordsError extends Error {
  override readonly name = "WordsError";
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

/** Options may stand anywhere before `--`. Throws a WordsError for one that does not exist. */
export function readWords(words: readonly string[], flags: readonly Flag[] = FLAGS): Words {
  const options = new Set<string>();
  const operands: string[] = [];
  for (const [index, word] of words.entries()) {
    if (word === "--") {
      operands.push(...words.slice(index + 1));
      break;
    }
    if (!word.startsWith("-") || word === "-") {
      operands.push(word);
      continue;
    }
    const option = flags.find(({ name, short }) => word === `--${name}` || word === `-${short}`);
    if (!option) {
      const flag = word.startsWith("--") ? word.split("=", 1)[0]! : word.slice(0, 2);
      const known = flags.map(({ name }) => `--${name}`).join(", ");
      throw new WordsError(
        `Unknown option "${printable(flag)}"`,
        `there are ${known}; words that begin with - go after --`,
      );
    }
    options.add(option.name);
  }
  return { options, operands };
}

/** Prints what went wrong, and what to do where that is known; both show what is in them, as printable() makes them. */
export function complain(message: string, hint?: string): void {
  console.error(`error: ${message}`);
  if (hint) console.error(`hint: ${hint}`);
}
