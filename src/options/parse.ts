// Splits a command line into rt's options, the target and the target's arguments. Pure: strings in, an Invocation out.
//
// Invariants (specification, "Script runner command line", rule 1):
// - Options are right after `rt` or `run` and before the target. Everything after the target is passed to it unparsed.
// - An unknown option is an error. Exception: a program that starts itself through process.execPath passes Node.js options,
//   which are forwarded to the engine.
// Non-obvious:
// - The caller passes the option table and loads it only if a word may be an option: creating it takes a tenth of a start.
// - `-` is a target (standard input). With -e or -p there is no target: every later word is an argument of the code.
import { COMMANDS } from "./commands.ts";
import type { Option } from "./options.ts";
import { findFault } from "./values.ts";

export interface Given {
  readonly option: Option;
  /** Absent for a switch, and for an omitted optional value. */
  readonly value?: string;
  /** Set if the option comes from rtfig.toml, not from the command line. */
  readonly isConfigured?: true;
  /** Returns file, line and key of an option from rtfig.toml, for messages. */
  locate?(): string;
}

export interface Invocation {
  readonly options: readonly Given[];
  /** A built-in command, `run` included; absent for `rt <file or script>`. */
  readonly command?: string;
  /** A file, script, binary, command or "-". */
  readonly target?: string;
  readonly args: readonly string[];
  /** An option that prints information instead of running anything. Of several, "version" has priority, then "revision". */
  readonly asksFor?: "version" | "revision" | "help" | undefined;
}

/** A usage error of the command line, printed as one error line and one hint line. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly hint: string | readonly string[] | undefined;
  /** The unknown word and the valid ones, for a "did you mean" suggestion. */
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
  const usage = value === "" || example === undefined ? `write it as ${flag}=<${hint}>` : undefined;
  throw new UsageError(`${flag} ${fault.reason}`, fault.hint ?? usage ?? `for example ${flag}=${example}`);
}

/** An unknown option that is forwarded to the engine. */
const FORWARDED = { by: "engine", group: "General execution", help: "" } as const;

/** Parses the option at `words[index]`. `width` is the number of words it consists of. @throws UsageError */
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
    return { given: { option: { ...FORWARDED, name: flag.slice(2) }, value: inline }, width: 1 };
  if (!option) {
    const known = options.map(({ name }) => `--${name}`);
    throw new UsageError(`Unknown option "${flag}"`, "list the options: rt help run", { word: flag, known });
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

const INFORMATION_OPTIONS = ["version", "revision", "help"] as const;

/** Returns true if a word may be an option, so that parsing needs the table. */
export function mentionsOption(words: readonly string[]): boolean {
  for (const word of words) if (word[0] === "-" && word !== "-") return true;
  return false;
}

/**
 * @param isOwnChild whether a program run by rt started this process
 * @throws UsageError
 */
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
      // A tool parses the rest of the line itself.
      if (COMMANDS[word]!.by !== "run") break;
      continue;
    }
    break;
  }
  const rest = words.slice(index);
  const names = options.map(({ option }) => option.name);
  const asksFor = INFORMATION_OPTIONS.find((name) => names.includes(name));
  if (evaluates || (command !== undefined && COMMANDS[command]!.by !== "run"))
    return { options, command, args: rest, asksFor };
  return { options, command, target: rest[0], args: rest.slice(1), asksFor };
}

/** Removes configured options whose subject the command line also sets. */
export function withoutOverridden<Each extends Given>(
  configured: readonly Each[],
  written: readonly Given[],
): Each[] {
  const subjects = new Set(written.flatMap(({ option }) => option.subject ?? []));
  return configured.filter(({ option }) => option.subject === undefined || !subjects.has(option.subject));
}

/** All occurrences of one option, including its aliases. */
export interface GivenOption {
  /** The last value, which wins for a repeated option; undefined for a switch. */
  readonly last: string | undefined;
  readonly all: readonly string[];
  /** False if only rtfig.toml sets the option. */
  readonly isOnLine: boolean;
}

/** Keyed by the option's name; aliases are resolved. */
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
