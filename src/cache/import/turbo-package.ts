// Resolves tasks in the turbo.json files of packages.
//
// Invariants:
// - Pure, with turbo's semantics. A package's task overrides the root's task key by key; `$TURBO_EXTENDS$` in a list
//   appends. Packages in `extends` come in between, in order.
// - `extends: false` of a task ends the inheritance. Without another key, the package does not have the task.
import { oneLine } from "../../printable.ts";
import { type JsonTable, listOf, tableOf, textsOf } from "./json-table.ts";

export interface TurboPackage {
  /** Relative to the root, for messages: "packages/web/turbo.json". */
  readonly path: string;
  /** "" if package.json has no name. */
  readonly name: string;
  readonly content: JsonTable;
}

export interface PackageTask {
  readonly packageName: string;
  readonly name: string;
  /** Null if the package excludes the task. */
  readonly task: JsonTable | null;
}

const KNOWN = ["$schema", "extends", "tasks", "pipeline", "tags", "boundaries"];
const EXTENDS = "$TURBO_EXTENDS$";

/**
 * Returns the tasks of all packages, and appends notes on settings without an equivalent. @param root tasks of the
 * root's turbo.json
 */
export function packageTasks(
  packages: readonly TurboPackage[],
  root: JsonTable,
  notes: string[],
): readonly PackageTask[] {
  const byName = new Map(packages.map((each) => [each.name, each]));
  return packages.flatMap((each) => {
    const { path, name, content } = each;
    noteRest(each, notes);
    const layers = layersOf(each, byName, notes);
    const names = new Set(
      layers.flatMap((layer) => Object.keys(layer)).filter((task) => !task.includes("#")),
    );
    if (name === "" && names.size > 0) {
      notes.push(`${oneLine(path)}: its package.json has no name; give it one, and write "<name>#<script>"`);
      return [];
    }
    for (const task of Object.keys(tasksOf(content)).filter((one) => one.includes("#")))
      notes.push(
        `${JSON.stringify(task)} in ${oneLine(path)}: only the turbo.json of the root can name packages`,
      );
    return [...names].map((task) => ({
      packageName: name,
      name: task,
      task: resolveTask(task, root[`${name}#${task}`] ?? root[task], layers),
    }));
  });
}

/** Returns the task tables that a package inherits, its own last. */
function layersOf(
  { path, content }: TurboPackage,
  byName: ReadonlyMap<string, TurboPackage>,
  notes: string[],
  seen: ReadonlySet<string> = new Set(),
): JsonTable[] {
  const layers: JsonTable[] = [];
  const [first, ...others] = Array.isArray(content.extends) ? content.extends.map(String) : [];
  if (seen.size === 0 && first !== "//")
    notes.push(`${oneLine(path)}: "extends": ["//"] is missing; rt assumes it`);
  for (const name of first === "//" || first === undefined ? others : [first, ...others]) {
    const other = byName.get(name);
    if (other && !seen.has(other.path) && other.path !== path)
      layers.push(...layersOf(other, byName, notes, new Set([...seen, path])));
    else if (!other)
      notes.push(
        `${oneLine(path)} extends ${JSON.stringify(name)}, which is not a package with a turbo.json`,
      );
  }
  return [...layers, tasksOf(content)];
}

function resolveTask(name: string, inherited: unknown, layers: readonly JsonTable[]): JsonTable | null {
  let task: JsonTable | null = tableOf(inherited);
  for (const layer of layers) {
    if (!(name in layer)) continue;
    const { extends: isInherited, ...own } = tableOf(layer[name]);
    if (isInherited !== false) task = mergeTask(task ?? {}, own);
    else task = Object.keys(own).length > 0 ? mergeTask({}, own) : null;
  }
  return task;
}

function mergeTask(base: JsonTable, own: JsonTable): JsonTable {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(own)) {
    const list = listOf(value);
    merged[key] = list.includes(EXTENDS) ? [...listOf(base[key]), ...list] : value;
  }
  return merged;
}

function noteRest({ path, content }: TurboPackage, notes: string[]): void {
  for (const key of Object.keys(content).filter((each) => !KNOWN.includes(each)))
    notes.push(
      `${JSON.stringify(key)} in ${oneLine(path)}: turbo allows this key only in the turbo.json of the root`,
    );
}

export function tasksOf(content: JsonTable): JsonTable {
  return tableOf(content.tasks ?? content.pipeline);
}

/** Returns the strings of a list, without `$TURBO_EXTENDS$`. */
export function entriesOf(value: unknown): string[] {
  return textsOf(value).filter((each) => each !== EXTENDS);
}
