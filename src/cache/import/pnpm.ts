// Converts `tasks` of pnpm-workspace.yaml to [tasks] of rtfig.toml.
//
// Invariants:
// - Pure. Every setting without an equivalent has a note with a reason or an advice.
// - pnpm caches a task that has `outputs`, unless it has `cache: false`.
// - A task without `dependsOn` waits for nothing. A script that is not in the list waits for that of its dependencies, as in rt.
import {
  type HasScript,
  dropMissing,
  type Imported,
  type ImportedRow,
  renderRow,
  show,
} from "./imported-row.ts";
import { type JsonTable, tableOf, textsOf } from "./json-table.ts";
import { noteStarters, rootRows, startersOf } from "./root-scripts.ts";
import { dependenciesOf, inputsOf, variablesOf } from "./turbo.ts";

const KNOWN = ["dependsOn", "outputs", "inputs", "env", "cache", "concurrency", "concurrencyGroup"];

/**
 * @param content pnpm-workspace.yaml
 * @param rootScripts scripts of the root of a workspace
 */
export function importPnpm(
  content: JsonTable,
  has: HasScript | undefined,
  rootScripts: JsonTable = {},
): Imported {
  const notes: string[] = [];
  const groups = tableOf(content.concurrencyGroups);
  const rules = Object.entries(tableOf(content.tasks)).map(
    ([name, task]) =>
      [name, rowOf(name, tableOf(task), groups, (text) => notes.push(`${show(name)}: ${text}`))] as const,
  );
  for (const [name, words] of Object.entries(tableOf(content.pipelines)))
    notes.push(`the pipeline ${show(name)}: rt run --filter '*' --affected ${textsOf(words).join(" ")}`);
  const remote = tableOf(content.remoteCache);
  if (Object.keys(remote).length > 0)
    notes.push("remoteCache: set up a shared cache by [cache.remote] (rt help shared-cache)");
  const kept = has ? dropMissing(rules, has, notes) : rules;
  const names = new Set(kept.map(([name]) => name));
  // Other scripts use pnpm as a package manager.
  const tasks = Object.entries(rootScripts).filter(([script]) => names.has(script));
  const starters = startersOf(Object.fromEntries(tasks), "pnpm");
  notes.push(...noteStarters(starters, "pnpm"));
  const all = [...kept, ...rootRows(starters, names)];
  const text = all.map(([name, row]) => `${renderRow(name, row).join("\n")}\n`).join("\n");
  return { text, count: kept.length, notes };
}

function rowOf(name: string, task: JsonTable, groups: JsonTable, say: (text: string) => void): ImportedRow {
  for (const key of Object.keys(task).filter((each) => !KNOWN.includes(each)))
    say(`${show(key)} has no equivalent in rtfig.toml`);
  const lock = lockOf(name, task, groups, say);
  const row = {
    "depends-on": dependenciesOf(textsOf(task.dependsOn), say),
    ...(lock !== undefined && { lock }),
  };
  if (!Array.isArray(task.outputs) || task.cache === false) return { ...row, cache: false };
  const env = variablesOf(textsOf(task.env), say);
  const inputs = inputsOf(textsOf(task.inputs), say);
  return {
    ...row,
    cache: true,
    ...(env.length > 0 && { env }),
    ...(inputs.length > 0 && { inputs }),
    outputs: textsOf(task.outputs),
  };
}

/** A lock allows one task at a time. */
function lockOf(
  name: string,
  { concurrency, concurrencyGroup: group }: JsonTable,
  groups: JsonTable,
  say: (text: string) => void,
): string | undefined {
  if (typeof group === "string") {
    if (groups[group] === 1) return group;
    say(
      `concurrencyGroup ${show(group)}: a lock allows one task at a time; limit all with rt run --concurrency`,
    );
  }
  if (concurrency === 1) return name;
  if (concurrency !== undefined)
    say(
      `concurrency ${JSON.stringify(concurrency)}: a lock allows one task at a time; limit all with rt run --concurrency`,
    );
  return undefined;
}
