// Adds secrets and grants to the text of an rtfig.toml; every other character stays.
//
// Invariants:
// - The new text is parsed again and must equal the old content plus the requested additions. Otherwise nothing is written,
//   for example if the existing syntax leaves no position for a line.
import { errorMessage } from "../../../platform/caught-error.ts";
import { configHint, tomlKey, tomlValue } from "../../config-hint.ts";
import { lineOf } from "../../config/toml-line.ts";
import { parseConfig } from "../../config/rtfig.ts";
import { printable } from "../../printable.ts";
import { grantPathOf } from "../grants/grants.ts";
import { readMapping } from "../grants/mapping.ts";
import { ArgumentError } from "../command-arguments.ts";
import type { CredentialAddress } from "./plan.ts";
import type { MutableTomlTable } from "../../config/toml-table.ts";

export interface MappingAddition {
  readonly name: string;
  readonly address: CredentialAddress;
  /** Whether redaction is disabled for the value. */
  readonly isShown?: boolean;
}

/** Parses an rtfig.toml. @param isNew also validates the secrets and grants @throws ArgumentError */
export function parseMappingText(text: string, file: string, isNew = false): MutableTomlTable {
  try {
    const config = parseConfig(text, file);
    // The old text may grant a secret that this edit declares, so only the new text is validated.
    if (isNew) readMapping(config, ".");
    return config.content;
  } catch (error) {
    throw new ArgumentError(`${errorMessage(error)}, so nothing was changed`, "fix this first");
  }
}

/** Returns the table at a path, or an empty table. */
export function tableAt(content: MutableTomlTable, ...path: readonly string[]): MutableTomlTable {
  let table: unknown = content;
  for (const name of path) table = isTable(table) && Object.hasOwn(table, name) ? table[name] : undefined;
  return isTable(table) ? table : {};
}

/** Returns the new text. @throws ArgumentError */
export function addToMapping(
  text: string,
  file: string,
  additions: readonly MappingAddition[],
  names: readonly string[],
  scripts: readonly string[],
): string {
  const content = parseMappingText(text, file);
  const expected = structuredClone(content);
  const lineBreak = text.includes("\r\n") ? "\r\n" : "\n";
  let result = text;
  const append = (lines: readonly string[]) => {
    const gap = result === "" ? "" : result.endsWith("\n") ? lineBreak : lineBreak + lineBreak;
    result += gap + lines.map((line) => line + lineBreak).join("");
  };
  for (const { name, address, isShown = false } of additions) {
    const lines = [`from = ${sourceOf(address)}`, ...(isShown ? ["redact = false"] : [])];
    append([`[secrets.${name}]`, ...lines]);
    ensureTable(expected, "secrets")[name] = Bun.TOML.parse(lines.join("\n"));
  }
  for (const script of scripts) {
    const path = grantPath(content, script);
    const before = listAt(content, path);
    const missing = names.filter((name) => !before?.includes(name));
    if (missing.length === 0) continue;
    const list = missing.map((name) => JSON.stringify(name)).join(", ");
    const section = path.slice(0, -1);
    const line = `${tomlKey(path.at(-1)!)} = [${list}]`;
    if (before) result = addToList(result, path, list, before.length > 0);
    else if (Object.keys(tableAt(parse(result), ...section)).length > 0)
      result = insertBelow(result, lineOf(result, section), line + lineBreak);
    else append([`[${section.map(tomlKey).join(".")}]`, line]);
    ensureTable(expected, ...section)[path.at(-1)!] = [...missing, ...(before ?? [])];
  }
  if (Bun.deepEquals(parse(result), expected, true)) parseMappingText(result, file, true);
  else
    throw new ArgumentError(
      `rt cannot edit ${printable(file)} in its present form, so nothing was changed`,
      "write its secrets in sections, [secrets.NAME] and [tasks.SCRIPT], instead of inline tables, and import again",
    );
  return result;
}

/** Returns a hint with the row that also gives these secrets to a script. */
export function grantHint(content: MutableTomlTable, row: string, names: readonly string[]): string {
  const path = grantPath(content, row);
  return configHint(path, [...new Set([...(listAt(content, path) ?? []), ...names])]);
}

/** A file with [run.secrets], the older table, keeps its form. */
function grantPath(content: MutableTomlTable, row: string): readonly [string, string, string] {
  const isOlder = Object.keys(tableAt(content, "run", "secrets")).length > 0;
  return grantPathOf(row, !isOlder || listAt(content, grantPathOf(row, true)) !== undefined);
}

function listAt(content: MutableTomlTable, path: readonly string[]): readonly string[] | undefined {
  const table = tableAt(content, ...path.slice(0, -1));
  const key = path.at(-1)!;
  return Object.hasOwn(table, key) ? (table[key] as readonly string[]) : undefined;
}

/** Formats "service/name", or a table if that could not be split again. */
function sourceOf(address: CredentialAddress): string {
  if (address.file !== undefined) return tomlValue(`age:${address.file}`);
  const { service, name } = address;
  if (!service.includes("/") && !service.startsWith("age:")) return tomlValue(`${service}/${name}`);
  return `{ service = ${tomlValue(service)}, name = ${tomlValue(name)} }`;
}

function isTable(value: unknown): value is MutableTomlTable {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the table at a path; creates missing tables. */
function ensureTable(content: MutableTomlTable, ...path: readonly string[]): MutableTomlTable {
  let table = content;
  for (const name of path) {
    if (!isTable(table[name])) table[name] = {};
    table = table[name] as MutableTomlTable;
  }
  return table;
}

/** Returns an empty table for invalid TOML, which then differs from the expected content. */
function parse(text: string): MutableTomlTable {
  try {
    return Bun.TOML.parse(text) as MutableTomlTable;
  } catch {
    return {};
  }
}

/** Inserts after the bracket that opens the list; the list may span lines. */
function addToList(text: string, path: readonly string[], list: string, hasMore: boolean): string {
  const start = offsetOf(text, lineOf(text, path));
  const assignment = /^(?:[^"'=\n]|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')*=[ \t]*\[/.exec(text.slice(start));
  if (!assignment) return text;
  const offset = start + assignment[0].length;
  return `${text.slice(0, offset)}${list}${hasMore ? ", " : ""}${text.slice(offset)}`;
}

/** Inserts a text after a line. @param line number from 1 */
function insertBelow(text: string, line: number, added: string): string {
  const offset = offsetOf(text, line + 1);
  const isLast = offset === text.length && !text.endsWith("\n");
  return `${text.slice(0, offset)}${isLast ? "\n" : ""}${added}${text.slice(offset)}`;
}

function offsetOf(text: string, line: number): number {
  let offset = 0;
  for (let count = 1; count < line; count++) {
    const end = text.indexOf("\n", offset);
    if (end < 0) return text.length;
    offset = end + 1;
  }
  return offset;
}
