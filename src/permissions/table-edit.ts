// Writes the permissions of rows into the text of rtfig.toml, and shows the difference.
//
// Invariants:
// - Pure. All other text stays. The result has the proposed tables and otherwise the same values, or there is an error.
import { readStatements, type TomlStatement } from "../config/command/toml-statements.ts";
import { tomlKey, tomlValue } from "../config-hint.ts";
import { parseConfig } from "../config/rtfig.ts";
import { type PermissionTable, PERMISSION_KEYS } from "../config/tasks/permission-table.ts";
import { UserError } from "../user-error.ts";

export interface TableEdit {
  readonly text: string;
  /** Lines that begin with "+" or "-". */
  readonly difference: readonly string[];
}

interface TextChange {
  readonly start: number;
  readonly end: number;
  readonly inserted: string;
}

/** @param tables the proposed table of each row @throws UserError */
export function editTables(
  text: string,
  file: string,
  tables: ReadonlyMap<string, PermissionTable>,
): TableEdit {
  const statements = text === "" ? [] : readStatements(text);
  const changes = [...tables].flatMap(([row, table]) => changesFor(row, table, statements, text));
  const ordered = changes.toSorted((a, b) => a.start - b.start);
  let [written, at] = ["", 0];
  for (const { start, end, inserted } of ordered) {
    written += text.slice(at, start);
    if (inserted.startsWith("[")) written = `${written.trimEnd()}${written === "" ? "" : "\n\n"}`;
    written += inserted;
    at = end;
  }
  written += text.slice(at);
  verify(text, written, file, tables);
  const difference = ordered.flatMap(({ start, end, inserted }) => [
    ...linesOf(text.slice(start, end)).map((line) => `- ${line}`),
    ...linesOf(inserted).map((line) => `+ ${line}`),
  ]);
  return { text: written, difference };
}

function changesFor(
  row: string,
  table: PermissionTable,
  statements: readonly TomlStatement[],
  text: string,
): TextChange[] {
  const path = ["tasks", row, "permissions"];
  const isAt = (statement: TomlStatement, parts: readonly string[]) =>
    parts.length === statement.path.length && parts.every((part, index) => statement.path[index] === part);
  const header = statements.find((each) => each.isTable && isAt(each, path));
  const lines = PERMISSION_KEYS.filter((key) => table[key]).map(
    (key) => [key, `${key} = ${tomlValue(table[key]!)}\n`] as const,
  );
  if (!header) {
    const plain = statements.find((each) => !each.isTable && isAt(each, path));
    const name = path.map(tomlKey).join(".");
    // The defaults are `permissions = true`; a table without keys means the same.
    const inserted = `[${name}]\n${lines.map(([, line]) => line).join("")}`;
    const appended = { start: text.length, end: text.length, inserted };
    return plain ? [removal(plain), appended] : [appended];
  }
  let end = header.end;
  const changes: TextChange[] = [];
  const missing = lines.filter(([key, line]) => {
    const known = statements.find((each) => !each.isTable && isAt(each, [...path, key]));
    if (!known) return true;
    end = Math.max(end, known.end);
    const start = known.start + known.comments.length;
    const comment = known.trailing === "" ? "" : ` ${known.trailing}`;
    const isSame = Bun.deepEquals(Bun.TOML.parse(text.slice(start, known.end)), Bun.TOML.parse(line));
    if (!isSame) changes.push({ start, end: known.end, inserted: `${line.trimEnd()}${comment}\n` });
    return false;
  });
  if (missing.length > 0) {
    const gap = text.slice(0, end).endsWith("\n") ? "" : "\n";
    changes.push({ start: end, end, inserted: gap + missing.map(([, line]) => line).join("") });
  }
  return changes;
}

function removal({ start, end, comments }: TomlStatement): TextChange {
  return { start: start + comments.length, end, inserted: "" };
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

/** @throws UserError */
function verify(
  before: string,
  written: string,
  file: string,
  tables: ReadonlyMap<string, PermissionTable>,
): void {
  const expected = structuredClone(parseConfig(before, file).content) as {
    tasks?: Record<string, Record<string, unknown>>;
  };
  for (const [row, table] of tables) ((expected.tasks ??= {})[row] ??= {}).permissions = { ...table };
  try {
    if (Bun.deepEquals(parseConfig(written, file).content, expected)) return;
  } catch {
    // The tables are nested in another way, for example as `tasks = { … }`.
  }
  const [row, table] = [...tables][0]!;
  const lines = PERMISSION_KEYS.filter((key) => table[key]).map(
    (key) => `${key} = ${tomlValue(table[key]!)}`,
  );
  throw new UserError(
    `${file} cannot be edited, because its tables are written inline`,
    `write by hand: [tasks.${tomlKey(row)}.permissions] ${lines.join("; ")}`,
  );
}
