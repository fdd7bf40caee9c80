// Converts a turbo.json to [tasks] and [cache.remote] of rtfig.toml.
//
// Invariants:
// - Pure. Every setting without an equivalent has a note with a reason or an advice.
// - A task that turbo does not cache is not cached.
// - A task without dependsOn waits for nothing, as with turbo.
// - turbo replaces a task by that of one package, rtfig.toml merges them by key. So the row of a package sets all
//   keys.
import { configHint } from "../../config-hint.ts";
import { splitTaskName } from "../../config/tasks/task-name.ts";
import { dependencyFault } from "../../config/tasks/task-table.ts";
import { oneLine } from "../../printable.ts";
import { addServices } from "./companions.ts";
import {
  dropMissing,
  type HasScript,
  type Imported,
  type ImportedRow,
  type NamedRow,
  renderRow,
  show,
} from "./imported-row.ts";
import { type JsonTable, tableOf } from "./json-table.ts";
import { noteStarters, rootRows, startersOf } from "./root-scripts.ts";
import { entriesOf, packageTasks, tasksOf, type TurboPackage } from "./turbo-package.ts";

/** Matches a directory named `cache` or `.cache`. */
const CACHE = /\/\.?cache(?:\/|$)/;

/** Settings that do not affect caching. */
const WITHOUT_EFFECT = [
  ...["$schema", "ui", "daemon", "telemetry", "noUpdateNotifier", "boundaries", "futureFlags", "tags"],
  ...["outputLogs", "interruptible", "experimentalUI", "dangerouslyDisablePackageManagerCheck"],
];

const KNOWN_REMOTE: Readonly<Record<string, string>> = {
  apiUrl: "url",
  teamSlug: "team",
  teamId: "team-id",
  timeout: "timeout",
  uploadTimeout: "upload-timeout",
};

/**
 * @param content the root's turbo.json
 * @param packages packages with a turbo.json
 * @param has undefined without a workspace
 * @param rootScripts scripts of the root of a workspace; turbo runs them only by the name "//#script"
 */
export function importTurbo(
  content: JsonTable,
  packages: readonly TurboPackage[],
  has?: HasScript,
  rootScripts: JsonTable = {},
): Imported {
  const notes: string[] = [];
  const tasks = tasksOf(content);
  const everywhere = [...entriesOf(content.globalEnv), ...entriesOf(content.globalPassThroughEnv)];
  const own: string[] = [];
  const others = packageTasks(packages, tasks, own);
  const replaced = new Set(others.map(({ packageName, name }) => `${packageName}#${name}`));
  /** Notes on a script in all packages, which are not repeated for one package. */
  const said = new Set<string>();
  const [named, persistent] = [new Map<string, readonly string[]>(), new Set<string>()];
  const collect = (name: string, task: JsonTable) => {
    const companions = entriesOf(task.with);
    if (companions.length > 0) named.set(name, companions);
    if (task.persistent === true) persistent.add(name);
  };
  const rules = Object.entries(tasks)
    .filter(([name]) => !replaced.has(name))
    .map(([name, task]): NamedRow => {
      collect(name, tableOf(task));
      const say = (text: string) => {
        said.add(`${name}: ${text}`);
        notes.push(`${show(name)}: ${text}`);
      };
      return [name, rowOf(tableOf(task), everywhere, say)];
    });
  for (const { packageName, name, task } of others) {
    const script = `${packageName}#${name}`;
    const say = (text: string) => {
      if (!said.has(`${name}: ${text}`)) notes.push(`${show(script)}: ${text}`);
    };
    if (!task)
      say("turbo excludes it there, but rt runs every script of a package: remove it from package.json");
    if (task) collect(script, task);
    rules.push([script, task ? rowOf(task, everywhere, say) : { cache: false }]);
  }
  notes.push(...own);
  const remote = remoteOf(tableOf(content.remoteCache), notes);
  noteRest(content, notes);
  const served = addServices(rules, { named, persistent }, (task, text) =>
    notes.push(`${show(task)}: ${text}`),
  );
  const kept = has ? dropMissing(served, has, notes) : served;
  const rows = new Map(kept);
  const ofRoot = rootRows(rootScripts, new Set(rows.keys()));
  notes.push(...noteStarters(startersOf(rootScripts, "turbo"), "turbo"));
  const tables = [
    ...kept.map(([name, row]) => renderRow(name, withResets(name, row, rows))),
    ...ofRoot.map(([name, row]) => renderRow(name, row)),
    remote,
  ].filter(({ length }) => length > 0);
  return { text: tables.map((lines) => `${lines.join("\n")}\n`).join("\n"), count: kept.length, notes };
}

function rowOf(task: JsonTable, everywhere: readonly string[], say: (text: string) => void): ImportedRow {
  for (const key of ["siblings", "extends"])
    if (task[key] !== undefined)
      say(`"${key}" has no equivalent in rtfig.toml; start these scripts together with rt run --parallel`);
  const row = {
    ...(typeof task.description === "string" && { description: task.description }),
    "depends-on": dependenciesOf(entriesOf(task.dependsOn), say),
  };
  if (task.cache === false || task.persistent === true || task.interactive === true)
    return { ...row, cache: false };
  const outputs = globsOf(entriesOf(task.outputs), "outputs", say);
  const env = variablesOf([...entriesOf(task.env), ...entriesOf(task.passThroughEnv), ...everywhere], say);
  const inputs = inputsOf(entriesOf(task.inputs), say);
  const ignore = cachesIn(outputs);
  if (entriesOf(task.passThroughEnv).length > 0)
    say("variables of passThroughEnv are part of the cache key, because the script receives them");
  return {
    ...row,
    cache: true,
    ...(env.length > 0 && { env }),
    ...(inputs.length > 0 && { inputs }),
    // Without tracing, empty outputs must be declared.
    outputs,
    ...(ignore.length > 0 && { ignore }),
  };
}

/** @param rows all rows; that of the task in all packages sets keys that the row of one package must reset */
function withResets(name: string, row: ImportedRow, rows: ReadonlyMap<string, ImportedRow>): ImportedRow {
  const { package: owner, task } = splitTaskName(name);
  const general = owner === undefined ? undefined : rows.get(task);
  const reset = Object.entries(row.cache === true ? (general ?? {}) : {}).filter(
    ([key, value]) => Array.isArray(value) && !(key in row),
  );
  return { ...row, ...Object.fromEntries(reset.map(([key]) => [key, []])) };
}

/** Returns the entries that [tasks] has, too. */
export function dependenciesOf(dependsOn: readonly string[], say: (text: string) => void): string[] {
  const variables = dependsOn.filter((each) => each.startsWith("$"));
  if (variables.length > 0)
    say(`${variables.map(show).join(", ")} in dependsOn names a variable; list it in env`);
  const names = [...new Set(dependsOn.filter((each) => !each.startsWith("$")))];
  for (const name of names) {
    const fault = dependencyFault(name);
    if (fault) say(`${show(name)} in dependsOn ${fault}`);
  }
  return names.filter((name) => !dependencyFault(name));
}

/** rt supports exact names and a trailing `*`. */
export function variablesOf(names: readonly string[], say: (text: string) => void): string[] {
  const isPlain = (name: string) => /^[A-Za-z_]\w*\*?$/.test(name);
  const others = [...new Set(names.filter((name) => !isPlain(name)))];
  if (others.length > 0)
    say(`the variables ${others.map(show).join(", ")}: env accepts only names, and prefixes that end with *`);
  return [...new Set(names.filter(isPlain))];
}

export function inputsOf(globs: readonly string[], say: (text: string) => void): string[] {
  const meant = globs.filter((each) => each !== "$TURBO_DEFAULT$");
  const taken = meant.filter((each) => !each.startsWith("!"));
  if (taken.length < meant.length)
    say(
      `excluded inputs (${meant
        .filter((each) => each.startsWith("!"))
        .map(show)
        .join(", ")}): every file that ` + "the script reads is an input; add exceptions to ignore",
    );
  return globsOf(taken, "inputs", say);
}

function globsOf(globs: readonly string[], key: string, say: (text: string) => void): string[] {
  const fromRoot = globs.filter((each) => each.includes("$TURBO_ROOT$"));
  if (fromRoot.length > 0)
    say(
      `${fromRoot.map(show).join(", ")} in ${key}: write the path relative to the package, as in "../../schema/**"`,
    );
  return globs.filter((each) => !fromRoot.includes(each));
}

/**
 * Returns excluded outputs that are tool caches, such as `.next/cache`: a tool reads and changes them, which must not
 * cause a miss. Other exclusions may be sources.
 */
function cachesIn(outputs: readonly string[]): string[] {
  const folders = outputs.flatMap((each) => /^([^!*?{[]+)\/\*\*/.exec(each)?.[1] ?? []);
  const taken = outputs.flatMap((each) => (each.startsWith("!") ? [each.slice(1)] : []));
  return taken.filter(
    (each) =>
      CACHE.test(each) && folders.some((folder) => each.startsWith(`${folder}/`) && !/^\.\.?$/.test(folder)),
  );
}

function remoteOf(remote: JsonTable, notes: string[]): string[] {
  const lines: string[] = [];
  for (const [name, value] of Object.entries(remote)) {
    const key = KNOWN_REMOTE[name];
    if (key !== undefined && (typeof value === "string" || Number.isSafeInteger(value)))
      lines.push(`${key} = ${JSON.stringify(value)}`);
    else if (name === "enabled") lines.push(`enabled = ${value !== false}`);
    else if (name !== "signature") notes.push(`remoteCache.${oneLine(name)} has no equivalent in rtfig.toml`);
  }
  if (lines.length > 0 && remote.signature !== true)
    notes.push(
      "rt signs shared entries: set TURBO_REMOTE_CACHE_SIGNATURE_KEY, or " +
        configHint(["cache", "remote", "signature"], false),
    );
  const hasServer = remote.apiUrl !== undefined || lines.length === 0 || remote.enabled === false;
  if (!hasServer)
    notes.push(
      "The shared cache needs a URL: set TURBO_API, or " +
        configHint(["cache", "remote", "url"], "https://cache.example.com"),
    );
  return lines.length > 0 ? ["[cache.remote]", ...lines] : [];
}

function noteRest(content: JsonTable, notes: string[]): void {
  const taken = ["tasks", "pipeline", "globalEnv", "globalPassThroughEnv", "remoteCache", "envMode"];
  for (const [name, value] of Object.entries(content)) {
    if (taken.includes(name) || WITHOUT_EFFECT.includes(name)) continue;
    if (name === "globalDependencies")
      notes.push(
        `globalDependencies (${entriesOf(value).map(show).join(", ")}): a file is an input of the scripts that read it`,
      );
    else notes.push(`${show(name)} has no equivalent in rtfig.toml`);
  }
  if (content.envMode === "loose")
    notes.push(
      "envMode loose: a cached script receives only declared variables and a fixed list (rt help caching)",
    );
}
