// Converts nx.json and project.json to [tasks] of rtfig.toml.
//
// Invariants:
// - Pure. Every setting without an equivalent has a note with a reason or an advice.
// - A target that nx does not cache is not cached.
// - Targets that plugins infer, and those of other executors, are listed and not imported.
// - A dependency on a task that no package has is left out: rt rejects it, nx ignores it.
import { configHint } from "../../config-hint.ts";
import { splitTaskName } from "../../config/tasks/task-name.ts";
import { dependencyFault, ROOT_PACKAGE } from "../../config/tasks/task-table.ts";
import { isGlob } from "../../workspace/glob.ts";
import { type Imported, type ImportedRow, renderRow, show } from "./imported-row.ts";
import { type JsonTable, listOf, tableOf, textsOf } from "./json-table.ts";
import { globOf, resolveInputs } from "./nx-inputs.ts";
import { commandOf, type NxProject } from "./nx-project.ts";
import { NoteList } from "./note-list.ts";
import { noteStarters, rootRows, startersOf } from "./root-scripts.ts";

/** Keys of nx.json that do not affect tasks. */
const WITHOUT_EFFECT = [
  ...["$schema", "targetDefaults", "namedInputs", "tasksRunnerOptions", "plugins", "extends", "npmScope"],
  ...["generators", "release", "workspaceLayout", "defaultProject", "defaultBase", "affected", "cli"],
  ...["analytics", "tui", "sync", "installation", "pluginsConfig", "useDaemonProcess", "cacheDirectory"],
  ...["maxCacheSize", "neverConnectToCloud", "useInferencePlugins", "useLegacyCache", "version"],
  ...["packageManager", "implicitDependencies", "nxCloudAccessToken"],
];

/**
 * @param projects projects with a package.json
 * @param others folders with a project.json alone
 * @param rootScripts scripts of the root of a workspace
 */
export function importNx(
  content: JsonTable,
  projects: readonly NxProject[],
  others: readonly string[] = [],
  rootScripts: JsonTable = {},
): Imported {
  const starters = startersOf(rootScripts, "nx");
  // They start targets, so the defaults of targets are not for them.
  const withTargets = projects.map((each) =>
    each.owner === ROOT_PACKAGE
      ? { ...each, scripts: each.scripts.filter((script) => !(script in starters)) }
      : each,
  );
  return new NxImport(content, withTargets).import(others, starters);
}

class NxImport {
  readonly #content: JsonTable;
  readonly #projects: readonly NxProject[];
  readonly #defaults: JsonTable;
  readonly #notes = new NoteList();
  readonly #rows = new Map<string, ImportedRow>();
  /** Keys whose values differ between packages, by the name of the row for all packages. */
  readonly #differing = new Map<string, readonly string[]>();
  /** Rows of targets that run until they are stopped. */
  readonly #continuous = new Set<string>();
  /** Commands of targets, by "package#target". */
  readonly #commands = new Map<string, string>();
  /** Names of all scripts and commands. */
  readonly #names = new Set<string>();
  /** Targets that are not imported, by executor; "" for inferred ones. */
  readonly #missing = new Map<string, string[]>();

  constructor(content: JsonTable, projects: readonly NxProject[]) {
    [this.#content, this.#projects] = [content, projects];
    const { cacheableOperations } = tableOf(tableOf(tableOf(content.tasksRunnerOptions).default).options);
    const cached = textsOf(cacheableOperations).map((name) => [name, { cache: true }] as const);
    const defaults: Record<string, JsonTable> = Object.fromEntries(cached);
    for (const [name, table] of Object.entries(tableOf(content.targetDefaults)))
      defaults[name] = { ...defaults[name], ...tableOf(table) };
    this.#defaults = defaults;
  }

  import(others: readonly string[], starters: JsonTable): Imported {
    for (const project of this.#projects) this.#findCommands(project);
    for (const name of Object.keys(this.#defaults)) this.#addDefault(name);
    for (const project of this.#projects)
      for (const name of Object.keys(project.targets)) this.#addTarget(project, name);
    this.#noteRest(others);
    this.#addServices();
    const ofRoot = rootRows(starters, new Set(this.#rows.keys()));
    for (const note of noteStarters(starters, "nx")) this.#notes.add(note);
    const tables = [...this.#rows, ...ofRoot].map(([name, row]) => `${renderRow(name, row).join("\n")}\n`);
    return { text: tables.join("\n"), count: this.#rows.size, notes: this.#notes.lines() };
  }

  /** A continuous target that others depend on is a service. Any other runs until it is stopped. */
  #addServices(): void {
    const named = new Set(
      [...this.#rows.values()].flatMap((row) => (row["depends-on"] ?? []) as readonly string[]),
    );
    for (const name of this.#continuous) {
      const { package: owner, task } = splitTaskName(name);
      const words =
        owner === undefined ? [...named].map((each) => splitTaskName(each.replace(/^\^/, "")).task) : [];
      const isNeeded = named.has(task) || named.has(`^${task}`) || named.has(name) || words.includes(task);
      const row = this.#rows.get(name);
      if (!isNeeded || !row) continue;
      const { cache: _, ...others } = row;
      this.#rows.set(name, { ...others, service: true });
      this.#notes.add(
        "it is a service: its dependents start when it listens; if it does not listen, set ready (rt help services)",
        name,
      );
    }
  }

  #findCommands(project: NxProject): void {
    for (const name of project.scripts) this.#names.add(name);
    for (const name of Object.keys(project.targets)) {
      const id = `${project.owner}#${name}`;
      const isNamed = project.owner !== "" && name !== "" && !name.includes("#");
      const found = commandOf(project, name, this.#targetOf(project, name), (text) =>
        this.#notes.add(text, id),
      );
      if (found.kind === "missing") {
        const { executor = "" } = found;
        this.#missing.set(executor, [...(this.#missing.get(executor) ?? []), id]);
      } else if (!isNamed) {
        this.#notes.add("needs a package.json with a name, and a name without #", `${project.path}#${name}`);
      } else if (found.kind === "command") {
        this.#commands.set(id, found.command);
        this.#names.add(name);
      }
    }
  }

  /** The defaults for a target: of its executor, else of its name. */
  #defaultsOf({ targets }: NxProject, name: string): JsonTable {
    const executor = targets[name]?.executor;
    const ofExecutor = typeof executor === "string" ? this.#defaults[executor] : undefined;
    return tableOf(ofExecutor ?? this.#defaults[name]);
  }

  #targetOf(project: NxProject, name: string): JsonTable {
    const [defaults, own] = [this.#defaultsOf(project, name), tableOf(project.targets[name])];
    // "..." is replaced by the list of the defaults.
    const spread = Object.entries(own).map(([key, value]) => [
      key,
      Array.isArray(value) && value.includes("...")
        ? value.flatMap((each: unknown) => (each !== "..." ? [each] : listOf(defaults[key])))
        : value,
    ]);
    const merged: JsonTable = { ...defaults, ...(Object.fromEntries(spread) as JsonTable) };
    return { ...merged, options: { ...tableOf(defaults.options), ...tableOf(own.options) } };
  }

  #hasTask(project: NxProject, name: string): boolean {
    return project.scripts.includes(name) || this.#commands.has(`${project.owner}#${name}`);
  }

  /** Adds the row of a target in all packages. */
  #addDefault(name: string): void {
    const projects = this.#projects.filter((each) => this.#hasTask(each, name));
    if ((projects.length === 0 && !isGlob(name)) || name.includes("#") || name.includes("/")) return;
    const { row, rest } = this.#rowOf(tableOf(this.#defaults[name]), name, projects);
    this.#rows.set(name, withDefaults(row));
    this.#differing.set(name, rest);
    for (const project of rest.length > 0 ? projects : [])
      if (project.owner !== "" && !(name in project.targets))
        this.#set(`${project.owner}#${name}`, this.#pick(project, name, rest));
  }

  #addTarget(project: NxProject, name: string): void {
    const id = `${project.owner}#${name}`;
    if (!this.#hasTask(project, name) || project.owner === "") return;
    const command = project.scripts.includes(name) ? undefined : this.#commands.get(id);
    const defaults = this.#defaultsOf(project, name);
    const differing = defaults === this.#defaults[name] ? this.#differing.get(name) : undefined;
    const keys = new Set([
      ...(differing ?? Object.keys(defaults)),
      ...Object.keys(tableOf(project.targets[name])),
    ]);
    const row = this.#pick(project, name, [...keys]);
    const all: ImportedRow = { ...(command !== undefined && { command }), ...row };
    this.#set(id, this.#rows.has(name) ? all : withDefaults(all));
  }

  #pick(project: NxProject, name: string, keys: readonly string[]): ImportedRow {
    const target = this.#targetOf(project, name);
    const picked = Object.fromEntries(keys.map((key) => [key, target[key]]));
    return this.#rowOf({ ...picked, options: target.options }, `${project.owner}#${name}`, [project]).row;
  }

  #set(id: string, row: ImportedRow): void {
    if (Object.keys(row).length > 0) this.#rows.set(id, row);
  }

  /** @returns the row, and the keys that need a row for each package */
  #rowOf(
    target: JsonTable,
    id: string,
    projects: readonly NxProject[],
  ): { row: ImportedRow; rest: string[] } {
    const rest: string[] = [];
    const say = (text: string) => this.#notes.add(text, id);
    const convert = (key: string, globs: readonly string[]) => {
      const converted = globs.map((glob) => globOf(glob, projects, tableOf(target.options)));
      if (converted.every((glob) => glob !== undefined)) return [...new Set(converted)];
      if (projects.length > 1) rest.push(key);
      else
        say(
          `${globs
            .filter((_, at) => converted[at] === undefined)
            .map(show)
            .join(", ")} in ${key} has no value`,
        );
      return undefined;
    };
    const row: Record<string, string | boolean | readonly string[]> = {};
    if (typeof tableOf(target.metadata).description === "string")
      row.description = tableOf(target.metadata).description as string;
    if (Array.isArray(target.dependsOn)) row["depends-on"] = this.#dependenciesOf(target.dependsOn, id);
    if (target.parallelism === false)
      say('"parallelism": false has no equivalent; give the tasks that exclude each other the same lock');
    if (target.continuous === true) this.#continuous.add(id);
    if (target.continuous === true || target.cache === false) row.cache = false;
    else if (target.cache === true) row.cache = true;
    if (row.cache === false) return { row, rest };
    if (Array.isArray(target.inputs)) {
      const inputs = this.#inputsOf(target.inputs, projects, say);
      if (inputs.env.length > 0) row.env = inputs.env;
      const files = convert("inputs", inputs.files);
      if (files && files.length > 0) row.inputs = files;
    }
    if (Array.isArray(target.outputs)) {
      const outputs = convert("outputs", textsOf(target.outputs));
      if (outputs) row.outputs = outputs;
    }
    return { row, rest };
  }

  #inputsOf(inputs: readonly unknown[], projects: readonly NxProject[], say: (text: string) => void) {
    const [project] = projects;
    const own = projects.length === 1 ? project!.namedInputs : {};
    const found = resolveInputs(inputs, { ...tableOf(this.#content.namedInputs), ...own });
    if (found.excluded.length > 0)
      say(
        "excluded inputs have no effect: every file that the script reads is an input; add exceptions to ignore",
      );
    for (const command of found.runtime)
      say(`the runtime input ${show(command)} has no equivalent; programs that the script starts are inputs`);
    for (const name of found.unknown) say(`the named input ${show(name)} does not exist`);
    return { files: found.files, env: [...new Set(found.env)].filter((name) => /^[A-Za-z_]\w*$/.test(name)) };
  }

  #dependenciesOf(dependsOn: readonly unknown[], id: string): string[] {
    const say = (text: string) => this.#notes.add(text, id);
    const names = dependsOn.flatMap((each) => this.#dependency(each, say));
    return [...new Set(names)].filter((name) => {
      const fault = dependencyFault(name);
      if (fault) say(`${show(name)} in dependsOn ${fault}`);
      else if (!this.#isKnown(name)) say(`no package has ${show(name)} of dependsOn`);
      return !fault && this.#isKnown(name);
    });
  }

  #isKnown(dependency: string): boolean {
    const { package: owner, task } = splitTaskName(dependency.replace(/^\^/, ""));
    if (owner === undefined) return this.#names.has(task);
    return this.#projects.some((each) => each.owner === owner && this.#hasTask(each, task));
  }

  #dependency(entry: unknown, say: (text: string) => void): string[] {
    if (typeof entry === "string") {
      // "project:target"; names of targets have colons, too.
      const [, name = "", target = ""] = /^(.*?):(.*)$/.exec(entry) ?? [];
      const project = this.#names.has(entry) ? undefined : this.#projectNamed(name);
      return [project ? `${project.owner}#${target}` : entry];
    }
    const { target, projects, dependencies, params, options } = tableOf(entry);
    if (typeof target !== "string") return [];
    if (params === "forward" || options === "forward") say(`arguments are not forwarded to ${show(target)}`);
    if (dependencies === true || projects === "dependencies") return [`^${target}`];
    if (projects === undefined || projects === "self" || projects === "{self}") return [target];
    return (typeof projects === "string" ? [projects] : textsOf(projects)).flatMap((name) => {
      if (name === "self" || name === "dependencies") return [name === "self" ? target : `^${target}`];
      const project = this.#projectNamed(name);
      if (!project) say(`no package is the project ${show(name)} of dependsOn`);
      return project ? [`${project.owner}#${target}`] : [];
    });
  }

  #projectNamed(name: string): NxProject | undefined {
    return this.#projects.find((each) => each.name === name && each.owner !== "");
  }

  #noteRest(others: readonly string[]): void {
    const { plugins, targetDefaults } = this.#content;
    for (const [executor, targets] of this.#missing)
      for (const target of targets)
        this.#notes.add(
          executor === ""
            ? "a plugin infers it; add it to the scripts of package.json"
            : `the executor ${show(executor)} is not imported; add the command to the scripts of package.json`,
          target,
        );
    const names = listOf(plugins).map((each) =>
      typeof each === "string" ? each : String(tableOf(each).plugin),
    );
    if (names.length > 0)
      this.#notes.add(
        `plugins (${names.join(", ")}): inferred targets are not imported; add the scripts that you use to package.json`,
      );
    if (Array.isArray(targetDefaults))
      this.#notes.add("targetDefaults is a list, which is not imported; write it as a table");
    if (others.length > 0)
      this.#notes.add("there is no package.json beside project.json; add one with a name", ...others);
    for (const { path, implicitDependencies } of this.#projects)
      if (implicitDependencies.length > 0)
        this.#notes.add("implicitDependencies: add them to devDependencies in package.json", path);
    for (const [key, value] of Object.entries(this.#content).filter(
      ([each]) => !WITHOUT_EFFECT.includes(each),
    ))
      this.#notes.add(
        key === "parallel" && typeof value === "number"
          ? `"parallel": ${configHint(["run", "concurrency"], value)}`
          : /^nxCloud/.test(key)
            ? `${show(key)}: Nx Cloud is not used; set up a shared cache (rt help shared-cache)`
            : `${show(key)} has no equivalent in rtfig.toml`,
      );
  }
}

/** nx does not cache without `cache`, and waits for nothing without `dependsOn`. */
function withDefaults(row: ImportedRow): ImportedRow {
  const { command, description, ...rest } = row;
  const texts = {
    ...(command !== undefined && { command }),
    ...(description !== undefined && { description }),
  };
  return { ...texts, "depends-on": [], cache: false, ...rest };
}
