// The words after `rt secrets` and `rt doctor`: options from a table, and the rest.
//
// Surprising: a message never repeats a word in full that may be a value typed in the wrong place.

export interface Option {
  readonly name: string;
  readonly short?: string;
  readonly help: string;
}

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

export const JSON_OPTION: Option = { name: "json", help: "Print JSON" };
export const HELP_OPTION: Option = { name: "help", short: "h", help: "Show this help" };

/** Options may stand anywhere before `--`. Throws a WordsError for one that the table does not have. */
export function readWords(words: readonly string[], table: readonly Option[]): Words {
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
    const option = table.find(({ name, short }) => word === `--${name}` || word === `-${short}`);
    if (!option) {
      const flag = word.startsWith("--") ? word.split("=", 1)[0]! : word.slice(0, 2);
      const known = table.map(({ name }) => `--${name}`).join(", ");
      throw new WordsError(
        `Unknown option "${flag}"`,
        `there are ${known}; words that begin with - go after --`,
      );
    }
    options.add(option.name);
  }
  return { options, operands };
}

/** The help of a command, from its tables. */
export function renderHelp(
  usage: string,
  summary: string,
  sections: Readonly<Record<string, readonly (readonly [string, string])[]>>,
  options: readonly Option[],
): string {
  const flags = options.map(
    ({ name, short, help }) => [short ? `-${short}, --${name}` : `--${name}`, help] as const,
  );
  const rows = Object.entries({ ...sections, Options: flags });
  const width = Math.max(...rows.flatMap(([, entries]) => entries.map(([left]) => left.length)));
  const blocks = rows.map(([title, entries]) =>
    [`${title}:`, ...entries.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)].join("\n"),
  );
  return [summary, `Usage: ${usage}`, ...blocks].join("\n\n");
}

/** Prints what went wrong, and what to do where that is known. */
export function complain(message: string, hint?: string): void {
  console.error(`error: ${message}`);
  if (hint) console.error(`hint: ${hint}`);
}
