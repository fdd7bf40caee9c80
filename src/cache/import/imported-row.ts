// Represents a row of [tasks] that an import writes.
import { tomlKey, tomlValue } from "../../config-hint.ts";
import { splitTaskName } from "../../config/tasks/task-name.ts";

export interface Imported {
  /** TOML. */
  readonly text: string;
  /** Number of scripts with a rule. */
  readonly count: number;
  readonly notes: readonly string[];
}

/** Keys of a row in output order. */
export type ImportedRow = Readonly<Record<string, string | boolean | readonly string[]>>;

export type NamedRow = readonly [name: string, row: ImportedRow];

/** Returns whether a package has a script: `build` for any package, or `web#build`. */
export type HasScript = (name: string) => boolean;

/**
 * Leaves out rows and dependencies that no package has. turbo ignores them; rt warns about such a row and rejects such
 * a dependency. A row without a script stays if others depend on it: its own dependencies count instead.
 */
export function dropMissing(rows: readonly NamedRow[], has: HasScript, notes: string[]): NamedRow[] {
  const dependencies = (row: ImportedRow) => (row["depends-on"] ?? []) as readonly string[];
  const wordOf = (name: string) => name.replace(/^\^/, "");
  const needed = new Set(
    rows.flatMap(([name, row]) =>
      dependencies(row)
        .map(wordOf)
        .filter((word) => word !== name),
    ),
  );
  const isGroup = ([name, row]: NamedRow) =>
    splitTaskName(name).package === undefined && dependencies(row).length > 0 && needed.has(name);
  const isKept = (each: NamedRow) => has(each[0]) || isGroup(each);
  const kept = rows.filter(isKept);
  const missing = rows.filter((each) => !isKept(each)).map(([name]) => show(name));
  if (missing.length > 0) notes.push(`${missing.join(", ")}: no package has such a script`);
  const names = new Set(kept.map(([name]) => name));
  return kept.map(([name, row]) => {
    const all = dependencies(row);
    const found = all.filter((each) => has(wordOf(each)) || names.has(wordOf(each)));
    if (found.length === all.length) return [name, row];
    const others = all.filter((each) => !found.includes(each)).map(show);
    notes.push(`${show(name)}: no package has ${others.join(", ")} of dependsOn`);
    return [name, { ...row, "depends-on": found }];
  });
}

export function renderRow(name: string, row: ImportedRow): string[] {
  return [
    `[tasks.${tomlKey(name)}]`,
    ...Object.entries(row).map(([key, value]) => `${key} = ${tomlValue(value)}`),
  ];
}

export function show(text: string): string {
  return JSON.stringify(text);
}
