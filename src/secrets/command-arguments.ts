// The words after `rt secrets` and `rt doctor`: options from a table, and the rest.
//
// Surprising: a message never repeats a word in full that may be a value typed in the wrong place.
import { printable } from "../printable.ts";
import { type Flag, FLAGS } from "./commands.ts";
import { reportLine } from "../output.ts";

export interface ParsedArguments {
  readonly options: ReadonlySet<string>;
  /** Of the options that take one; an option may be given more than once. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  readonly operands: readonly string[];
}

/** The user's command line is wrong; `hint` is what to write instead. */
export class ArgumentError extends Error {
  override readonly name = "WordsError";
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

/** Options may stand anywhere before `--`. Throws a WordsError for one that does not exist. */
export function readWords(words: readonly string[], flags: readonly Flag[] = FLAGS): ParsedArguments {
  const options = new Set<string>();
  const values = new Map<string, string[]>();
  const operands: string[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!;
    if (word === "--") {
      operands.push(...words.slice(index + 1));
      break;
    }
    if (!word.startsWith("-") || word === "-") {
      operands.push(word);
      continue;
    }
    const option = flags.find(
      ({ name, short, value }) =>
        word === `--${name}` || word === `-${short}` || (value && word.startsWith(`--${name}=`)),
    );
    if (!option) {
      const flag = word.startsWith("--") ? word.split("=", 1)[0]! : word.slice(0, 2);
      const known = flags.map(({ name }) => `--${name}`).join(", ");
      throw new ArgumentError(
        `Unknown option "${printable(flag)}"`,
        `there are ${known}; words that begin with - go after --`,
      );
    }
    options.add(option.name);
    if (!option.value) continue;
    const value = word.includes("=") ? word.slice(word.indexOf("=") + 1) : words[++index];
    if (!value)
      throw new ArgumentError(`--${option.name} needs a value`, `--${option.name}=<${option.value}>`);
    values.set(option.name, [...(values.get(option.name) ?? []), value]);
  }
  return { options, values, operands };
}

/** Prints what went wrong, and what to do where that is known; both show what is in them, as printable() makes them. */
export function complain(message: string, hint?: string, kind: "error" | "warning" = "error"): void {
  reportLine(`${kind}: ${message}`);
  if (hint) reportLine(`hint: ${hint}`);
}
