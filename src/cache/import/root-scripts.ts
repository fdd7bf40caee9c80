// Keeps scripts of the root package, such as "build": "turbo run build", out of the rows for all packages.
//
// Invariants:
// - Pure. A script that has a row of its own keeps it.
import { ROOT_PACKAGE } from "../../config/tasks/task-table.ts";
import { type ImportedRow, type NamedRow, show } from "./imported-row.ts";
import type { JsonTable } from "./json-table.ts";

/** Such a script starts the tasks: it neither waits for them nor is cached as a whole. */
const ROW: ImportedRow = { "depends-on": [], cache: false };

/** Returns rows for those scripts of the root that a row for all packages would apply to. */
export function rootRows(scripts: JsonTable, rows: ReadonlySet<string>): NamedRow[] {
  return Object.keys(scripts)
    .map((script) => [script, `${ROOT_PACKAGE}#${script}`] as const)
    .filter(([script, name]) => rows.has(script) && !rows.has(name))
    .map(([, name]) => [name, ROW]);
}

export function startersOf(scripts: JsonTable, program: string): JsonTable {
  const words = new RegExp(String.raw`(?:^|[\s;&|(])${program}(?:\s|$)`);
  return Object.fromEntries(
    Object.entries(scripts).filter(([, command]) => typeof command === "string" && words.test(command)),
  );
}

/** Returns a note on scripts of the root that start the program. @param starters as `startersOf` returns them */
export function noteStarters(starters: JsonTable, program: string): string[] {
  const names = Object.keys(starters);
  if (names.length === 0) return [];
  return [
    `${names.map(show).join(", ")} of the root's package.json: start rt instead of ${program}, as in ` +
      `"rt run --filter '*' ${names[0]}"`,
  ];
}
