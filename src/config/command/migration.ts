// Moves the rules of [run.cache], [run.secrets] and [run.remote.scripts] to [tasks].
//
// Invariants:
// - Pure. Comments move with their keys, and all other text stays. The result has the same values.
// - A difference that cannot be expressed is a note, or an error before anything is written.
import { tomlKey, tomlValue } from "../../config-hint.ts";
import { printable } from "../../printable.ts";
import { UserError } from "../../user-error.ts";
import { type Config, parseConfig } from "../rtfig.ts";
import { splitTaskName } from "../tasks/task-name.ts";
import { readStatements, type TomlStatement } from "./toml-statements.ts";

export interface Migration {
  readonly text: string;
  /** Number of scripts whose rules moved. */
  readonly count: number;
  readonly notes: readonly string[];
}

interface MovedKey {
  /** "cache", "secrets" or "remote". */
  readonly section: string;
  readonly key: string;
  /** TOML. */
  readonly value: string;
  readonly comments: string;
  readonly trailing: string;
}

const SECTIONS: readonly (readonly string[])[] = [
  ["run", "cache"],
  ["run", "secrets"],
  ["run", "remote", "scripts"],
];

type Values = Readonly<Record<string, unknown>>;

/** Returns undefined if the file has none of these tables. @throws UserError */
export function migrateConfig({ text, file, content }: Config): Migration | undefined {
  const { cache, secrets, remote } = content.run ?? {};
  if (!cache && !secrets && !remote?.scripts) return undefined;
  const rows = new Map<string, MovedKey[]>();
  const taken = content.tasks ?? {};
  /** Comments of tables, by the name of the first script below them. */
  const headers = new Map<string, string>();
  let header = "";
  let rest = "";
  let at = 0;
  for (const statement of readStatements(text)) {
    const section = SECTIONS.find((each) => isWithin(statement.path, each));
    // `cache = { build = true }`
    const inline = SECTIONS.find((each) => !statement.isTable && isWithin(each, statement.path));
    if (!section && !inline) continue;
    rest += text.slice(at, statement.start);
    at = statement.end;
    if (statement.isTable) {
      const { comments, trailing } = statement;
      header += `${comments}${trailing && `${trailing}\n`}`;
    } else for (const [name, moved] of keysOf(statement, valueAt(content, statement.path))) add(name, moved);
  }
  rest += text.slice(at);

  function add(name: string, moved: MovedKey): void {
    if (Object.hasOwn(taken, name))
      throw new UserError(`${file} has [tasks.${printable(tomlKey(name))}] already`, "move its keys by hand");
    headers.set(name, `${headers.get(name) ?? ""}${header}`);
    header = "";
    const keys = rows.get(name) ?? [];
    const known = keys.find(({ key }) => key === moved.key);
    if (known && !isSame(known, moved))
      throw new UserError(
        `${file}: "${printable(name)}" has different ${moved.key} in [run.cache] and [run.remote.scripts]`,
        "give both the same values first: [tasks] has one list for both",
      );
    if (known) keys[keys.indexOf(known)] = { ...known, comments: known.comments + moved.comments };
    else keys.push(moved);
    rows.set(name, keys);
  }

  for (const name of Object.keys(cache ?? {}))
    if (!rows.get(name)?.some(({ key }) => key === "cache"))
      rows.get(name)?.unshift({ section: "cache", key: "cache", value: "true", comments: "", trailing: "" });
  const notes = reset(rows);
  const tables = [...rows].map(
    ([name, keys]) => `${headers.get(name) ?? ""}[tasks.${tomlKey(name)}]\n${keys.map(render).join("")}`,
  );
  const kept = rest.replace(/\n{3,}/g, "\n\n").trimEnd();
  const written = `${kept === "" ? "" : `${kept}\n\n`}${tables.join("\n")}${header}`;
  verify(content, written, file, rows);
  return { text: written, count: rows.size, notes };
}

function isWithin(path: readonly string[], section: readonly string[]): boolean {
  return section.every((part, index) => path[index] === part);
}

function valueAt(content: Values, path: readonly string[]): unknown {
  let value: unknown = content;
  for (const part of path) value = (value as Values)[part];
  return value;
}

/** Returns the keys of a statement, each with the name of its script. */
function keysOf({ path, value, comments, trailing }: TomlStatement, parsed: unknown): [string, MovedKey][] {
  const from = SECTIONS.find((each) => isWithin(path, each) || isWithin(each, path))!;
  const names = path.slice(from.length);
  const section = from[1]!;
  const own = { section, comments, trailing: trailing && ` ${trailing}` };
  const [name, key] = names;
  if (name !== undefined && (key !== undefined || typeof parsed !== "object" || Array.isArray(parsed)))
    return [[name, { key: key ?? (from[1] === "cache" ? "cache" : "secrets"), value, ...own }]];
  // An inline table: its values are written again.
  const moved: [string, MovedKey][] = [];
  const collect = (rest: readonly string[], each: unknown) => {
    const isTable = typeof each === "object" && each !== null && !Array.isArray(each);
    if (isTable) for (const [part, inner] of Object.entries(each)) collect([...rest, part], inner);
    else {
      const [script, field = from[1] === "cache" ? "cache" : "secrets"] = rest as [string, string?];
      const text = tomlValue(each as string | boolean | string[]);
      moved.push([script, { section, key: field, value: text, comments: "", trailing: "" }]);
    }
  };
  if (names.length > 0 || path.length === from.length) collect(names, parsed);
  else collect([], insideOf(parsed, from.slice(path.length)));
  const first = moved[0];
  if (first) moved[0] = [first[0], { ...first[1], ...own }];
  return moved;
}

function insideOf(value: unknown, path: readonly string[]): unknown {
  return path.reduce((each, part) => (each as Values | undefined)?.[part], value) ?? {};
}

/** `dist` of a server is `dist/**` of the cache. */
function isSame(a: MovedKey, b: MovedKey): boolean {
  const read = ({ key, value }: MovedKey) => {
    const { [key]: list } = Bun.TOML.parse(`${key} = ${value}`) as Record<string, unknown>;
    if (!Array.isArray(list)) return JSON.stringify(list);
    return JSON.stringify(
      list.map((item) => String(item).replace(key === "outputs" ? /\/(?:\*\*)?$/ : /$^/, "")).sort(),
    );
  };
  return read(a) === read(b);
}

const DEFAULTS: Readonly<Record<string, string>> = {
  env: "[]",
  inputs: "[]",
  ignore: "[]",
  trace: "true",
  shared: "true",
};

/** The old row of one package replaced that of all packages; [tasks] combines them by key. */
function reset(rows: Map<string, MovedKey[]>): string[] {
  const notes: string[] = [];
  for (const [name, keys] of rows) {
    const { package: owner, task } = splitTaskName(name);
    const general = owner === undefined ? undefined : rows.get(task);
    const isCached = keys.some(({ key, value }) => key === "cache" && value === "true");
    const sections = new Set(keys.map(({ section }) => section));
    for (const { section, key } of general ?? []) {
      // A package without a separate row there used the row of all packages.
      if (!sections.has(section)) continue;
      if (keys.some((each) => each.key === key) || key === "secrets" || key === "cache") continue;
      const value = isCached ? DEFAULTS[key] : undefined;
      if (value !== undefined) keys.push({ section, key, value, comments: "", trailing: "" });
      else notes.push(`"${name}" now also has ${key} of [tasks.${task}]`);
    }
  }
  return notes;
}

function render({ key, value, comments, trailing }: MovedKey): string {
  return `${comments}${key} = ${value}${trailing}\n`;
}

/** Compares the values of both files. @throws UserError */
function verify(before: Values, written: string, file: string, rows: ReadonlyMap<string, MovedKey[]>): void {
  const { content: after } = parseConfig(written, file);
  const without = ({ tasks: _tasks, run, ...others }: Values) => {
    const { cache: _cache, secrets: _secrets, remote, ...rest } = (run ?? {}) as Values;
    const { scripts: _scripts, ...server } = (remote ?? {}) as Values;
    return { ...others, ...rest, ...server };
  };
  const isMoved = [...rows].every(([name, keys]) =>
    keys.every(({ key }) => (after.tasks as Record<string, Values>)[name]?.[key] !== undefined),
  );
  if (isMoved && Bun.deepEquals(without(before), without(after))) return;
  throw new UserError(`${file} cannot be rewritten`, "move the rules to [tasks] by hand: rt help tasks");
}
