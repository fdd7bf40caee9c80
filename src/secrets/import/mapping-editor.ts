// Adds to the text of an rtfig.toml what says where credentials come from and which scripts get them, and leaves every
// other character as it is.
//
// Contract: what comes out is read again, and has to mean what the old text meant with what was asked for, no more and no
// less; where the file is written in a way that no line can be added to, nothing is.
import { errorMessage } from "../../../platform/caught-error.ts";
import { lineOf } from "../../config/toml-line.ts";
import { parseConfig } from "../../config/rtfig.ts";
import { printable } from "../../printable.ts";
import { readMapping } from "../grants/mapping.ts";
import { ArgumentError } from "../command-arguments.ts";
import type { CredentialAddress } from "./plan.ts";

type Table = Record<string, unknown>;

export interface Addition {
  readonly name: string;
  readonly address: CredentialAddress;
  /** Whether scripts may show the value. */
  readonly isShown?: boolean;
}

/** Throws WordsError where rt could not use the file either. */
export function parseMappingText(text: string, file: string, isNew = false): Table {
  try {
    const config = parseConfig(text, file);
    // Before, a script may be given what only comes now.
    if (isNew) readMapping(config, ".");
    return config.content;
  } catch (error) {
    throw new ArgumentError(`${errorMessage(error)}, so nothing was changed`, "mend that first");
  }
}

/** The table below a path, empty where there is none. */
export function tableAt(content: Table, ...path: readonly string[]): Table {
  let table: unknown = content;
  for (const name of path) table = isTable(table) && Object.hasOwn(table, name) ? table[name] : undefined;
  return isTable(table) ? table : {};
}

/** @returns the new text; throws WordsError */
export function addToMapping(
  text: string,
  file: string,
  additions: readonly Addition[],
  names: readonly string[],
  scripts: readonly string[],
): string {
  const content = parseMappingText(text, file);
  const wanted = structuredClone(content);
  const lineBreak = text.includes("\r\n") ? "\r\n" : "\n";
  let result = text;
  const append = (lines: readonly string[]) => {
    const gap = result === "" ? "" : result.endsWith("\n") ? lineBreak : lineBreak + lineBreak;
    result += gap + lines.map((line) => line + lineBreak).join("");
  };
  for (const { name, address, isShown = false } of additions) {
    const lines = [`from = ${sourceOf(address)}`, ...(isShown ? ["redact = false"] : [])];
    append([`[secrets.${name}]`, ...lines]);
    into(wanted, "secrets")[name] = Bun.TOML.parse(lines.join("\n"));
  }
  for (const script of scripts) {
    const table = tableAt(content, "run", "secrets");
    const before = Object.hasOwn(table, script) ? (table[script] as string[]) : undefined;
    const missing = names.filter((name) => !before?.includes(name));
    if (missing.length === 0) continue;
    const list = missing.map((name) => JSON.stringify(name)).join(", ");
    const line = `${keyOf(script)} = [${list}]`;
    if (before) result = addToList(result, ["run", "secrets", script], list, before.length > 0);
    else if (Object.keys(tableAt(parse(result), "run", "secrets")).length > 0)
      result = insertBelow(result, lineOf(result, ["run", "secrets"]), line + lineBreak);
    else append(["[run.secrets]", line]);
    into(wanted, "run", "secrets")[script] = [...missing, ...(before ?? [])];
  }
  if (Bun.deepEquals(parse(result), wanted, true)) parseMappingText(result, file, true);
  else
    throw new ArgumentError(
      `${printable(file)} is written in a way that rt cannot add to, so nothing was changed`,
      `add [secrets.<name>] with from = "<service>/<name>" and [run.secrets] by hand, and import again`,
    );
  return result;
}

/** "service/name" where that can be parted again. */
function sourceOf(address: CredentialAddress): string {
  if (address.file !== undefined) return JSON.stringify(`age:${address.file}`);
  const { service, name } = address;
  if (!service.includes("/") && !service.startsWith("age:")) return JSON.stringify(`${service}/${name}`);
  return `{ service = ${JSON.stringify(service)}, name = ${JSON.stringify(name)} }`;
}

function keyOf(name: string): string {
  return /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
}

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Makes the tables on the way. */
function into(content: Table, ...path: readonly string[]): Table {
  let table = content;
  for (const name of path) {
    if (!isTable(table[name])) table[name] = {};
    table = table[name] as Table;
  }
  return table;
}

/** What has become no TOML is told from what was asked for. */
function parse(text: string): Table {
  try {
    return Bun.TOML.parse(text) as Table;
  } catch {
    return {};
  }
}

/** Behind the bracket that opens the list, which may end lines further down. */
function addToList(text: string, path: readonly string[], list: string, hasMore: boolean): string {
  const start = offsetOf(text, lineOf(text, path));
  const assignment = /^(?:[^"'=\n]|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')*=[ \t]*\[/.exec(text.slice(start));
  if (!assignment) return text;
  const place = start + assignment[0].length;
  return `${text.slice(0, place)}${list}${hasMore ? ", " : ""}${text.slice(place)}`;
}

/** @param line from 1 */
function insertBelow(text: string, line: number, added: string): string {
  const place = offsetOf(text, line + 1);
  const isLast = place === text.length && !text.endsWith("\n");
  return `${text.slice(0, place)}${isLast ? "\n" : ""}${added}${text.slice(place)}`;
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
