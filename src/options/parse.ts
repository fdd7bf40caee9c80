// Splits a command line into what is rt's and what is the target's. Pure: strings in, an Invocation out.
//
// Contract (specification, "Script runner command line", rule 1): options stand right after `rt`, or after
// `run`, and before the target; everything behind the target is the target's and is not looked at. An
// option that the table does not know is an error here, not silence.
//
// A program that starts itself gives options of Node.js; those that we do not know are the engine's to pass over, as it
// does.
//
// Surprising: the table of options comes from the caller, who loads it only when there is an option to look up:
// making it takes a tenth of a whole start, and most starts have none. `-` is a target (standard input), and with -e or -p there is no target, so that every word
// that is not an option belongs to the evaluated code.
import { COMMANDS } from "./commands.ts";
import type { Option } from "./options.ts";
import { findFault } from "./values.ts";

export interface Given {
  readonly option: Option;
  /** Absent for a switch, and for an option with an optional value that was given none. */
  readonly value?: string;
  /** It comes from rtfig.toml, not from the command line. */
  readonly isConfigured?: true;
  /** Of one from rtfig.toml: the file, its line and the key, for messages. */
  locate?(): string;
}

export interface Invocation {
  readonly options: readonly Given[];
  /** A built-in command, `run` included; absent for `rt <file or script>`. */
  readonly command?: string;
  /** A file, script, binary, command or "-". */
  readonly target?: string;
  readonly args: readonly string[];
  /** Whatever else is given, it is answered and nothing is run; "version" comes first. */
  readonly asksFor?: "version" | "revision" | "help" | undefined;
}

/** The user's command line is wrong: one line that says what, one that says what to do. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly hint: string | readonly string[] | undefined;
  /** The word that was not understood and what it could have been, for a suggestion. */
  readonly unknown: { word: string; known: readonly string[] } | undefined;

  constructor(
    message: string,
    hint?: string | readonly string[],
    unknown?: { word: string; known: readonly string[] },
  ) {
    super(message);
    this.hint = hint;
    this.unknown = unknown;
  }
}

function findOption(flag: string, options: readonly Option[]): Option | undefined {
  const isLong = flag.startsWith("--");
  const name = flag.slice(isLong ? 2 : 1);
  for (const option of options)
    if (isLong ? name === option.name : name === option.short || name === option.other) return option;
  return undefined;
}

function checkValue(flag: string, option: Option, value: string): void {
  const fault = findFault(option, value);
  if (!fault) return;
  const { hint, example = option.default } = option.value!;
  const shown = value === "" || example === undefined ? `write it as ${flag}=<${hint}>` : undefined;
  throw new UsageError(`${flag} ${fault.reason}`, fault.hint ?? shown ?? `for example ${flag}=${example}`);
}

const FOREIGN = { by: "engine", group: "General execution", help: "" } as const;

/** Reads one option at `words[index]` and tells how many words it took. */
function parseOption(
  words: readonly string[],
  index: number,
  options: readonly Option[],
  isOwnChild: boolean,
): { given: Given; width: number } {
  const word = words[index]!;
  const equals = word.startsWith("--") ? word.indexOf("=") : -1;
  const flag = equals > 0 ? word.slice(0, equals) : word;
  let inline = equals > 0 ? word.slice(equals + 1) : undefined;
  let option = findOption(flag, options);
  if (!option && !word.startsWith("--") && word.length > 2) {
    option = findOption(word.slice(0, 2), options);
    if (option && !option.value) option = undefined;
    inline = word[2] === "=" ? word.slice(3) : word.slice(2);
  }
  if (!option && isOwnChild && word.startsWith("--"))
    return { given: { option: { ...FOREIGN, name: flag.slice(2) }, value: inline }, width: 1 };
  if (!option) {
    const known = options.map(({ name }) => `--${name}`);
    throw new UsageError(`Unknown option "${flag}"`, "rt help run lists the options", { word: flag, known });
  }
  const name = `--${option.name}`;
  if (!option.value) {
    if (inline !== undefined) throw new UsageError(`${name} takes no value`, `write it as ${name}`);
    return { given: { option }, width: 1 };
  }
  if (inline === undefined && option.value.kind === "optional") return { given: { option }, width: 1 };
  const written = inline ?? words[index + 1];
  if (written === undefined)
    throw new UsageError(`${name} needs a value`, `write it as ${name}=<${option.value.hint}>`);
  const value = option.value.synonyms?.[written] ?? written;
  checkValue(name, option, value);
  return { given: { option, value }, width: inline === undefined ? 2 : 1 };
}

const ANSWERED = ["version", "revision", "help"] as const;

/** Whether a word could be an option, so that parsing needs the table. */
export function mentionsOption(words: readonly string[]): boolean {
  for (const word of words) if (word[0] === "-" && word !== "-") return true;
  return false;
}

/** @param isOwnChild whether a program that we run has started us */
export function parseCommandLine(
  words: readonly string[],
  table: readonly Option[],
  isOwnChild = false,
): Invocation {
  const options: Given[] = [];
  let command: string | undefined;
  let index = 0;
  let evaluates = false;
  for (; index < words.length;) {
    const word = words[index]!;
    if (word === "--") {
      index += 1;
      break;
    }
    if (word.length > 1 && word.startsWith("-")) {
      const { given, width } = parseOption(words, index, table, isOwnChild);
      options.push(given);
      evaluates ||= given.option.name === "eval" || given.option.name === "print";
      index += width;
      continue;
    }
    if (evaluates) break;
    if (command === undefined && word in COMMANDS) {
      command = word;
      index += 1;
      // A tool reads the rest of the line itself.
      if (COMMANDS[word]!.by !== "run") break;
      continue;
    }
    break;
  }
  const rest = words.slice(index);
  const names = options.map(({ option }) => option.name);
  const asksFor = ANSWERED.find((name) => names.includes(name));
  if (evaluates || (command !== undefined && COMMANDS[command]!.by !== "run"))
    return { options, command, args: rest, asksFor };
  return { options, command, target: rest[0], args: rest.slice(1), asksFor };
}

/** Drops what rtfig.toml gives where the command line gives an option of the same subject. */
export function withoutOverridden<Each extends Given>(
  configured: readonly Each[],
  written: readonly Given[],
): Each[] {
  const subjects = new Set(written.flatMap(({ option }) => option.subject ?? []));
  return configured.filter(({ option }) => option.subject === undefined || !subjects.has(option.subject));
}

/** What was given of one option, by whatever of its names. */
export interface GivenOption {
  /** The last value, as users expect of a repeated option; undefined for a switch. */
  readonly last: string | undefined;
  readonly all: readonly string[];
  /** Whether it stands on the command line, and not in rtfig.toml alone. */
  readonly isOnLine: boolean;
}

/** By the names of their rows. */
export type GivenOptions = ReadonlyMap<string, GivenOption>;

export function collectOptions(options: readonly Given[]): GivenOptions {
  const collected = new Map<string, GivenOption>();
  for (const { option, value, isConfigured } of options) {
    const name = option.aliasOf ?? option.name;
    const before = collected.get(name);
    collected.set(name, {
      last: value,
      all: [...(before?.all ?? []), ...(value === undefined ? [] : [value])],
      isOnLine: !isConfigured || (before?.isOnLine ?? false),
    });
  }
  return collected;
}
