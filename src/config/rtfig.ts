// rtfig.toml: from a file to options and to what the engine reads itself.
//
// Contract (specification, `--config`): `$cwd/rtfig.toml`, or the file that --config names. Flags win over the
// file, the file over defaults: what it says is put in front of the flags, and the last of a kind counts. A key
// that is not in the table and a value of the wrong type are errors that name the file and the line.
//
// Surprising: the engine reads a file of its own form, and two things in ours it must not see. Preloads it would
// run before ours, so that they would find no `rt`; and `run.shell = "rt"` it does not know. A file with one of
// these reaches it as a copy without them (see engine-config.ts), every other one as it is.
import { errorMessage } from "../../platform/caught-error.ts";
import { files } from "../../platform/files/files.ts";
import { type Option, OPTIONS } from "../options/options.ts";
import { findFault } from "../options/values.ts";
import { suggestNames } from "../did-you-mean.ts";
import { UserError } from "../user-error.ts";
import { printable } from "../printable.ts";
import { explainUnreadable } from "../workspace/package-json.ts";
import { lineOfSyntaxError } from "../workspace/syntax-error-line.ts";
import { FILE_NAME, LARGEST_CONFIG } from "./config-file-name.ts";
import { KEYS, type ConfigKey, type ConfigValueType, type OptionWords } from "./keys.ts";
import { lineOf } from "./toml-line.ts";

/** Characters of a key or value in a message. */
const LONGEST_SHOWN = 100;

/** One key as the file has it. */
export interface Setting {
  readonly key: ConfigKey;
  /** The key's name in parts, as written. */
  readonly path: readonly string[];
  readonly value: unknown;
}

export interface Config {
  readonly file: string;
  readonly text: string;
  readonly content: Readonly<Record<string, unknown>>;
  readonly settings: readonly Setting[];
  /** The flag of a tool for which keys were taken out: the file itself still has them. */
  readonly overriddenBy?: string | undefined;
}

/** An option that the file gives. */
export interface ConfiguredOption {
  readonly option: Option;
  readonly value?: string;
  readonly isConfigured: true;
  /** Returns the file, its line and the key, for messages. */
  locate(): string;
}

/** @param path as the user wrote it; relative to the working directory */
export function readConfig(path: string): Config {
  const bytes = files.readFile(path, LARGEST_CONFIG + 1);
  if (typeof bytes === "string") {
    const hint = bytes === "ENOENT" ? "--config needs a file that exists" : undefined;
    throw new UserError(`Cannot read the configuration "${path}": ${explainUnreadable(bytes)}`, hint);
  }
  if (bytes.length > LARGEST_CONFIG)
    throw new UserError(`Cannot read the configuration "${path}": it is larger than 128 KiB`);
  return parseConfig(new TextDecoder().decode(bytes), path);
}

/** That of the working directory; undefined where there is none. Throws Failure. */
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
  return { file, text, content, settings };
}

interface SettingSource {
  readonly text: string;
  readonly file: string;
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** A key that a place in the file may still turn out to be. */
interface KeyCandidate {
  readonly key: ConfigKey;
  /** What its name has below that place; "*" is any name. */
  readonly rest: readonly string[];
}

function candidatesAt(name: string): KeyCandidate[] {
  const found: KeyCandidate[] = [];
  if (name.includes(".")) return found; // in quotes, it is one part
  // Parting the names of all keys would be most of what reading a file takes.
  for (const key of KEYS)
    if (key.name === name || key.name.startsWith(`${name}.`))
      found.push({ key, rest: key.name.split(".").slice(1) });
  return found;
}

function below(candidates: readonly KeyCandidate[], name: string): KeyCandidate[] {
  const found: KeyCandidate[] = [];
  for (const { key, rest } of candidates)
    if (rest[0] === name || rest[0] === "*") found.push({ key, rest: rest.slice(1) });
  return found;
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
      collect([...path, name], value[name], below(candidates, name), settings, source);
    return;
  }
  const place = `${source.file}:${lineOf(source.text, path)}`;
  const name = shorten(path.join("."));
  if (key) throw new UserError(`${place}: ${name} needs ${describeKinds(key)}, not ${describe(value)}`);
  if (isSection) throw new UserError(`${place}: ${name} is a table`, `write [${name}] above its keys`);
  const [similar] = suggestNames(
    path.join("."),
    KEYS.map((each) => each.name),
  );
  const hint = similar ? `did you mean ${similar}?` : "rtfig.toml.example lists the keys";
  throw new UserError(`${place}: Unknown key "${name}"`, hint);
}

/** Text of the file, in a message. */
function shorten(text: string): string {
  return printable(text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}...` : text);
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

/** A value may be a credential, so only its type is told. */
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
  const place = `${source.file}:${lineOf(source.text, path)}`;
  throw new UserError(`${place}: ${name} cannot be "${shorten(value)}"`, `use one of: ${choices.join(", ")}`);
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
  const place = `${source.file}:${lineOf(source.text, path)}`;
  const bounds = greatest === Number.MAX_SAFE_INTEGER ? `${least} up` : `${least} to ${greatest}`;
  throw new UserError(`${place}: ${name} needs a whole number from ${bounds}, not ${value}`);
}

/** Applies the checks of the command line to the file. */
function checkOptions(setting: Setting, source: SettingSource): void {
  for (const [option, value] of wordsOf(setting)) {
    const row = optionNamed(option);
    const fault = value === undefined ? undefined : findFault(row, value);
    if (!fault) continue;
    const { key, path } = setting;
    const place = `${source.file}:${lineOf(source.text, path)}`;
    const [name, text] = row.value?.example?.split(":") ?? [];
    const isNamed = key.name.endsWith(".*") && text !== undefined;
    const example = isNamed
      ? `${JSON.stringify(name)} = ${JSON.stringify(text)}`
      : `${path.at(-1)!} = ${key.example}`;
    throw new UserError(
      `${place}: ${shorten(`${path.join(".")} ${fault.reason}`)}`,
      fault.hint ?? `for example ${example}`,
    );
  }
}

function optionNamed(name: string): Option {
  return OPTIONS.find((each) => each.name === name)!;
}

/** Returns the file's options, in the file's order. */
export function optionsOf(config: Config): ConfiguredOption[] {
  return config.settings.flatMap((setting) =>
    wordsOf(setting).map(([name, value]) => ({
      option: optionNamed(name),
      ...(value !== undefined && { value }),
      isConfigured: true as const,
      locate: () => `${config.file}:${lineOf(config.text, setting.path)}: ${setting.path.join(".")}`,
    })),
  );
}

function wordsOf({ key, path, value }: Setting): OptionWords[] {
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
