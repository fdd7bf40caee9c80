// Combines the rows of [tasks] for one task.
//
// Invariants:
// - Each key comes from the first row that has it: "package#task", then "task", then globs. Of two globs, the one
//   with more characters besides wildcards precedes, then the earlier one.
// - A command without a package belongs to the root project, and runs once for all packages.
// - A script of package.json precedes a command of the same name.
import { realPath } from "../../../platform/files/real-path.ts";
import { isGlob } from "../../workspace/glob.ts";
import type { MemberPackage } from "../../workspace/members.ts";
import { type PackageJson, recordField, scriptNames, scriptOf } from "../../workspace/package-json.ts";
import { MAX_CONFIG_SIZE } from "../config-file-name.ts";
import type { Config } from "../rtfig.ts";
import type { ScriptPackage } from "../script-package.ts";
import type { ScriptRules } from "../unmatched-rules.ts";
import { conflictingKeys } from "./service-row.ts";
import { readTaskTable, ROOT_PACKAGE, type TaskOptions, type TaskRow, type TaskTable } from "./task-table.ts";

export interface TaskRule extends TaskOptions {
  /** The row that set each key, by the name of the field. */
  readonly sources: Readonly<Partial<Record<keyof TaskOptions, string>>>;
}

export interface TaskOwner {
  /** "" without a name. */
  readonly name: string;
  readonly isRoot: boolean;
}

interface CompiledRow {
  readonly row: TaskRow;
  readonly hasPackage: (owner: TaskOwner) => boolean;
  readonly hasTask: (name: string) => boolean;
}

export class TaskRules {
  readonly table: TaskTable;
  readonly #exact = new Map<string, TaskRow>();
  /** By precedence. */
  readonly #globs: readonly CompiledRow[];
  /** Rows with a command, by precedence. */
  readonly #commands: readonly CompiledRow[];
  /** The names of packages that rows name. */
  readonly #owners: ReadonlySet<string | undefined>;
  /** The rules of a package, by task. Packages that no row names share them, under the key undefined. */
  readonly #rules = new Map<string | undefined, Map<string, TaskRule | undefined>>();
  /** By the names of their rows. */
  readonly #combined = new Map<string, TaskRule>();
  /** The root without symlinks, as in the directories of packages. */
  #realRoot: string | undefined;

  constructor(table: TaskTable) {
    this.table = table;
    const compiled = table.rows.map(compile).sort((a, b) => rankOf(b.row) - rankOf(a.row));
    for (const row of table.rows) this.#exact.set(row.name, row);
    this.#owners = new Set(table.rows.map((row) => row.package));
    this.#globs = compiled.filter(({ row }) => isGlob(row.name));
    this.#commands = compiled.filter(({ row }) => row.options.command !== undefined);
  }

  /** Returns undefined if no row is for the task. */
  ruleFor(owner: TaskOwner, name: string): TaskRule | undefined {
    return this.rulesIn(owner)(name);
  }

  /** Returns a function from the task of a package to its rule, for a plan of thousands of tasks. */
  rulesIn(owner: TaskOwner): (name: string) => TaskRule | undefined {
    const isCommon = !owner.isRoot && this.#globs.length === 0 && !this.#owners.has(owner.name);
    const key = isCommon ? undefined : `${owner.isRoot ? ROOT_PACKAGE : ""}${owner.name}`;
    let rules = this.#rules.get(key);
    if (!rules) this.#rules.set(key, (rules = new Map<string, TaskRule | undefined>()));
    const known = rules;
    return (name) => {
      const rule = known.get(name);
      if (rule !== undefined || known.has(name)) return rule;
      const combined = this.#combine(owner, name);
      known.set(name, combined);
      return combined;
    };
  }

  ownerIn({ name, directory }: ScriptPackage): TaskOwner {
    const { root } = this.table;
    return { name, isRoot: directory === root || directory === (this.#realRoot ??= realPath(root)) };
  }

  #combine(owner: TaskOwner, name: string): TaskRule | undefined {
    const rows = [
      this.#exact.get(`${owner.name}#${name}`),
      owner.isRoot ? this.#exact.get(`${ROOT_PACKAGE}#${name}`) : undefined,
      this.#exact.get(name),
      ...this.#globs.filter((each) => each.hasTask(name) && each.hasPackage(owner)).map(({ row }) => row),
    ].filter((row) => row !== undefined);
    if (rows.length === 0) return undefined;
    // Most tasks of a name have the same rows in all packages.
    const key = rows.map((row) => row.name).join("\0");
    let rule = this.#combined.get(key);
    if (!rule) this.#combined.set(key, (rule = combineRows(rows)));
    return rule;
  }

  /** Returns the commands that [tasks] adds to a package, by name. */
  commandsOf(owner: TaskOwner): Readonly<Record<string, string>> {
    const commands: Record<string, string> = Object.create(null) as Record<string, string>;
    for (const { row, hasPackage } of this.#commands) {
      const isOwn = row.package === undefined ? owner.isRoot : hasPackage(owner);
      if (isOwn) commands[row.task] ??= row.options.command!;
    }
    return commands;
  }

  /** Returns whether a command of the root project runs for all packages. */
  isRootCommand(name: string): boolean {
    const row = this.#exact.get(name);
    return row !== undefined && row.package === undefined && row.options.command !== undefined;
  }

  /** Returns the rows, to find those that match no task. */
  asRules(): ScriptRules {
    const { root, rows } = this.table;
    return {
      section: "tasks",
      folder: root,
      names: rows.filter((row) => !isGroup(row, rows)).map(({ name }) => name),
      isForOne: (name, member) => {
        const { hasPackage, hasTask } = compile(this.#exact.get(name)!);
        return hasPackage(ownerOf(member)) && scriptNames(member.manifest).some(hasTask);
      },
    };
  }
}

/** Returns whether a row needs no script: others depend on it, and get its dependencies. */
function isGroup({ package: owner, task, options }: TaskRow, rows: readonly TaskRow[]): boolean {
  const isNamed = ({ task: other, options: { dependsOn = [] } }: TaskRow) =>
    other !== task && (dependsOn.includes(task) || dependsOn.includes(`^${task}`));
  return owner === undefined && options.dependsOn !== undefined && rows.some(isNamed);
}

function combineRows(rows: readonly TaskRow[]): TaskRule {
  const options: Record<string, unknown> = {};
  const sources: Record<string, string> = {};
  for (const row of rows)
    for (const [key, value] of Object.entries<unknown>({ ...row.options }))
      if (!Object.hasOwn(options, key)) [options[key], sources[key]] = [value, row.name];
  // A less specific row may set them for other tasks.
  for (const key of conflictingKeys(options)) {
    delete options[key];
    delete sources[key];
  }
  return { ...options, sources };
}

/** Returns undefined if the file has no [tasks]. @throws UserError */
export function readTaskRules(config: Config, cwd: string): TaskRules | undefined {
  const table = readTaskTable(config, cwd);
  return table && new TaskRules(table);
}

function compile(row: TaskRow): CompiledRow {
  const matches = matcherOf(row.package ?? "*");
  return {
    row,
    hasPackage: (owner) => matches(owner.name) || (owner.isRoot && row.package === ROOT_PACKAGE),
    hasTask: matcherOf(row.task),
  };
}

function matcherOf(pattern: string): (name: string) => boolean {
  if (!isGlob(pattern)) return (name) => name === pattern;
  // As in --filter: alone it means every package, also with a scope.
  if (pattern === "*") return () => true;
  const glob = new Bun.Glob(pattern);
  return (name) => glob.match(name);
}

/** Greater for a row that precedes. */
function rankOf({ name, package: owner }: TaskRow): number {
  if (isGlob(name)) return name.replace(/[*?[\]{}]/g, "").length - MAX_CONFIG_SIZE;
  return owner === undefined ? 1 : 2;
}

export function withCommands(manifest: PackageJson, commands: Readonly<Record<string, string>>): PackageJson {
  const added = Object.entries(commands).filter(([name]) => scriptOf(manifest, name) === null);
  if (added.length === 0) return manifest;
  const scripts = Object.fromEntries([...Object.entries(recordField(manifest, "scripts")), ...added]);
  return { ...manifest, scripts };
}

export function ownerOf({ name, path }: Pick<MemberPackage, "name" | "path">): TaskOwner {
  return { name, isRoot: path === "." };
}
