// Parses rtfig.toml into options, and into settings that the engine reads from the file.
//
// Invariants:
// - The file is `$cwd/rtfig.toml` or that of --config. Flags override the file, the file overrides defaults: its options precede
//   the flags, and the last one of a kind applies.
// - Unknown keys and values of the wrong type are errors with file and line.
//
// Non-obvious:
// - Two settings must not reach the engine: preloads, which it would run before `rt` exists, and `run.shell = "rt"`. A file with
//   one of these reaches it as a copy (engine-config.ts), every other file unchanged.
import { errorMessage } from "../../platform/caught-error.ts";
import { files } from "../../platform/files/files.ts";
import { type Option, OPTIONS } from "../options/options.ts";
import { findFault } from "../options/values.ts";
import { suggestNames } from "../did-you-mean.ts";
import { UserError } from "../user-error.ts";
import { printable } from "../printable.ts";
import { explainUnreadable } from "../workspace/package-json.ts";
import { lineOfSyntaxError } from "../workspace/syntax-error-line.ts";
import type { ConfigContent } from "./config-content.ts";
import { FILE_NAME, MAX_CONFIG_SIZE } from "./config-file-name.ts";
import { KEYS, type ConfigKey, type ConfigValueType, type OptionWords } from "./keys.ts";
import { lineOf } from "./toml-line.ts";

/** Characters of a key or value in a message. */
const MAX_SHOWN_LENGTH = 100;

/** A key of the file with its value. */
export interface Setting {
  readonly key: ConfigKey;
  /** The parts of the key's name, as written. */
  readonly path: readonly string[];
  readonly value: unknown;
}

export interface Config {
  readonly file: string;
  readonly text: string;
  readonly content: ConfigContent;
  readonly settings: readonly Setting[];
  /** The flag that overrides a removed key. The file itself still contains the key. */
  readonly overriddenBy?: string | undefined;
}

export interface ConfiguredOption {
  readonly option: Option;
  readonly value?: string;
  readonly isConfigured: true;
  /** Returns file, line and key for messages. */
  locate(): string;
}

/** Reads and parses a configuration. @param path relative to the working directory; messages show it @throws UserError */
export function readConfig(path: string): Config {
  const bytes = files.readFile(path, MAX_CONFIG_SIZE + 1);
  if (typeof bytes === "string") {
    const hint = bytes === "ENOENT" ? "--config needs a file that exists" : undefined;
    throw new UserError(`Cannot read the configuration "${path}": ${explainUnreadable(bytes)}`, hint);
  }
  if (bytes.length > MAX_CONFIG_SIZE)
    throw new UserError(`Cannot read the configuration "${path}": it is larger than 128 KiB`);
  return parseConfig(new TextDecoder().decode(bytes), path);
}

/** Reads the rtfig.toml of the working directory; returns undefined if it does not exist. @throws UserError */
export function readOwnConfig(): Config | undefined {
  return files.readFile(FILE_NAME, 1) === "ENOENT" ? undefined : readConfig(FILE_NAME);
}

export function parseConfig(text: string, file: string): Config {
  let content: Record<string, unknown>;
  try {
    content = Bun.TOML.parse(text) as Record<string, unknown>;
  } catch (error) {
    const isDeep = (error as Error).name === "RangeError"; // of the engine's stack
    const reason = isDeep ? "nested too deeply" : errorMessage(error).replace(/^TOML Parse error: /, "");
    throw new UserError(`${file}:${lineOfSyntaxError(text, Bun.TOML.parse)}: ${reason}`);
  }
  const settings: Setting[] = [];
  for (const name of Object.keys(content))
    collect([name], content[name], candidatesAt(name), settings, { text, file });
  // collect() has checked every key and value against the table of keys.
  return { file, text, content, settings };
}

interface SettingSource {
  readonly text: string;
  readonly file: string;
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** A key whose name starts with the current path. */
interface KeyCandidate {
  readonly key: ConfigKey;
  /** The remaining parts of its name; "*" is any name. */
  readonly rest: readonly string[];
}

function candidatesAt(name: string): KeyCandidate[] {
  const matches: KeyCandidate[] = [];
  if (name.includes(".")) return matches; // a quoted name is one part
  // Splitting the names of all keys would dominate the time of parsing.
  for (const key of KEYS)
    if (key.name === name || key.name.startsWith(`${name}.`))
      matches.push({ key, rest: key.name.split(".").slice(1) });
  return matches;
}

function candidatesBelow(candidates: readonly KeyCandidate[], name: string): KeyCandidate[] {
  const matches: KeyCandidate[] = [];
  for (const { key, rest } of candidates)
    if (rest[0] === name || rest[0] === "*") matches.push({ key, rest: rest.slice(1) });
  return matches;
}

function collect(
  path: readonly string[],
  value: unknown,
  candidates: readonly KeyCandidate[],
  settings: Setting[],
  source: SettingSource,
): void {
  const key = candidates.find(({ rest }) => rest.length === 0)?.key;
  if (key && key.kinds.some((kind) => isOfKind(value, kind))) {
    checkChoice(key, path, value, source);
    checkRange(key, path, value, source);
    const setting = { key, path, value };
    checkOptions(setting, source);
    settings.push(setting);
    return;
  }
  const isSection = candidates.some(({ rest }) => rest.length > 0);
  if (isSection && isTable(value)) {
    for (const name of Object.keys(value))
      collect([...path, name], value[name], candidatesBelow(candidates, name), settings, source);
    return;
  }
  const location = `${source.file}:${lineOf(source.text, path)}`;
  const name = shorten(path.join("."));
  if (key) throw new UserError(`${location}: ${name} needs ${describeKinds(key)}, not ${describe(value)}`);
  if (isSection) throw new UserError(`${location}: ${name} is a table`, `write [${name}] above its keys`);
  const [similar] = suggestNames(
    path.join("."),
    KEYS.map((each) => withNames(each.name, path)),
  );
  const hint = similar ? `did you mean ${similar}?` : "rtfig.toml.example lists the keys";
  throw new UserError(`${location}: Unknown key "${name}"`, hint);
}

/** Replaces `*` in the name of a key by the name in the file. */
function withNames(key: string, path: readonly string[]): string {
  const parts = key.split(".");
  return parts.map((part, index) => (part === "*" ? (path[index] ?? part) : part)).join(".");
}

/** Truncates and escapes text of the file for a message. */
function shorten(text: string): string {
  return printable(text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}...` : text);
}

function isOfKind(value: unknown, kind: ConfigValueType): boolean {
  switch (kind) {
    case "integer":
      return Number.isSafeInteger(value) && (value as number) >= 0;
    case "strings":
      return Array.isArray(value) && value.every((item) => typeof item === "string");
    default:
      return typeof value === kind;
  }
}

const KIND_NAMES: Readonly<Record<ConfigValueType, string>> = {
  boolean: "true or false",
  string: "a string",
  strings: "a list of strings",
  integer: "a whole number",
  number: "a number",
};

function describeKinds({ kinds }: ConfigKey): string {
  return kinds.map((kind) => KIND_NAMES[kind]).join(" or ");
}

/** Describes the type of a value. Strings are not shown: they may be credentials. */
function describe(value: unknown): string {
  if (typeof value === "string") return "a string";
  if (typeof value === "boolean") return String(value);
  if (typeof value === "number") return Number.isSafeInteger(value) ? `${value}` : "a fraction";
  return Array.isArray(value) ? "a list" : isTable(value) ? "a table" : "a date";
}

function checkChoice(
  { choices, name }: ConfigKey,
  path: readonly string[],
  value: unknown,
  source: SettingSource,
): void {
  if (!choices || typeof value !== "string" || choices.includes(value)) return;
  const location = `${source.file}:${lineOf(source.text, path)}`;
  throw new UserError(
    `${location}: ${name} cannot be "${shorten(value)}"`,
    `use one of: ${choices.join(", ")}`,
  );
}

function checkRange(
  { range, name }: ConfigKey,
  path: readonly string[],
  value: unknown,
  source: SettingSource,
): void {
  if (!range || typeof value !== "number") return;
  const [least, greatest] = range;
  if (value >= least && value <= greatest) return;
  const location = `${source.file}:${lineOf(source.text, path)}`;
  const bounds = greatest === Number.MAX_SAFE_INTEGER ? `${least} up` : `${least} to ${greatest}`;
  throw new UserError(`${location}: ${name} needs a whole number from ${bounds}, not ${value}`);
}

function checkOptions(setting: Setting, source: SettingSource): void {
  for (const [option, value] of optionWordsOf(setting)) {
    const row = optionNamed(option);
    const fault = value === undefined ? undefined : findFault(row, value);
    if (!fault) continue;
    const { key, path } = setting;
    const location = `${source.file}:${lineOf(source.text, path)}`;
    const [name, text] = row.value?.example?.split(":") ?? [];
    const isNamed = key.name.endsWith(".*") && text !== undefined;
    const example = isNamed
      ? `${JSON.stringify(name)} = ${JSON.stringify(text)}`
      : `${path.at(-1)!} = ${key.example}`;
    throw new UserError(
      `${location}: ${shorten(`${path.join(".")} ${fault.reason}`)}`,
      fault.hint ?? `for example ${example}`,
    );
  }
}

function optionNamed(name: string): Option {
  return OPTIONS.find((each) => each.name === name)!;
}

/** Returns the options of the file, in file order. */
export function optionsOf(config: Config): ConfiguredOption[] {
  return config.settings.flatMap((setting) =>
    optionWordsOf(setting).map(([name, value]) => ({
      option: optionNamed(name),
      ...(value !== undefined && { value }),
      isConfigured: true as const,
      locate: () => `${config.file}:${lineOf(config.text, setting.path)}: ${setting.path.join(".")}`,
    })),
  );
}

function optionWordsOf({ key, path, value }: Setting): OptionWords[] {
  const { as } = key;
  if (as === undefined) return [];
  if (typeof as !== "string") {
    const words = as[String(value)];
    return words ? [words] : [];
  }
  if (key.name.endsWith(".*")) return [[as, `${path.at(-1)}:${String(value)}`]];
  if (value === true) return [[as]];
  if (value === false) return [];
  return [value].flat().map((item): OptionWords => [as, String(item)]);
}
