// Parses the arguments of `rt secrets` and `rt doctor`: options from a table, then operands.
//
// Invariants:
// - No message repeats an operand: it may be a secret value that the user typed in the wrong position.
import { printable } from "../printable.ts";
import { type Flag, FLAGS } from "./commands.ts";
import { reportLine } from "../output.ts";

export interface ParsedArguments {
  readonly options: ReadonlySet<string>;
  /** Values by option, in order: an option may be repeated. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  readonly operands: readonly string[];
}

/** A mistake on the command line, or in a file that it names. Recognized by its name, because chunks may copy the class. */
export class ArgumentError extends Error {
  override readonly name = "ArgumentError";
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

/** Parses options anywhere before `--`. @throws ArgumentError for an unknown option or a missing value */
export function parseArguments(words: readonly string[], flags: readonly Flag[] = FLAGS): ParsedArguments {
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
        `use one of ${known}; arguments that begin with - go after --`,
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

/** Prints an error or warning, and its hint. The caller escapes names in both with `printable`. */
export function reportProblem(message: string, hint?: string, kind: "error" | "warning" = "error"): void {
  reportLine(`${kind}: ${message}`);
  if (hint) reportLine(`hint: ${hint}`);
}
