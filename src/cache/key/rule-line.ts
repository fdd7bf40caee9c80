// Formats the rule of a script, with additions, as a line for [run.cache], or as keys of [tasks].
import { relative } from "node:path";
import { tomlKey, tomlValue } from "../../config-hint.ts";
import type { CacheRule } from "../../config/settings/cache.ts";
import { literally } from "./rule-globs.ts";
import { withSlashes } from "../relocation/stored-path.ts";

const LISTS = ["env", "inputs", "outputs", "ignore"] as const;

/** Additional values for the lists of a rule; `trace: false` turns tracing off. */
export type RuleAddition = { readonly [List in (typeof LISTS)[number]]?: readonly string[] } & {
  readonly trace?: false;
};

/** Returns the table that has the rule, as messages name it. */
export function tableOf({ rows, name }: Pick<CacheRule, "rows" | "name">): string {
  return rows ? `[tasks.${tomlKey(name)}]` : "[run.cache]";
}

/** Returns the end of a sentence. A line of [run.cache] is complete, because it replaces the rule; [tasks] needs the changed keys. */
export function describeRule(rule: CacheRule, addition: RuleAddition): string {
  if (rule.rows) return describeRows(rule, rule.rows, addition);
  const parts = LISTS.flatMap((list) => {
    const values = valuesOf(rule, addition, list);
    const isKept = values.length > 0 || (list === "outputs" && rule.saysOutputs);
    return isKept ? `${list} = ${tomlValue(values)}` : [];
  });
  if (!rule.isShared) parts.push("shared = false");
  if (addition.trace === false || !rule.isTraced) parts.push("trace = false");
  return `set its rule in [run.cache] to: ${tomlKey(rule.name)} = { ${parts.join(", ")} }`;
}

/** Names the row that has a key now, because it precedes the row with `cache`. */
function describeRows(rule: CacheRule, rows: NonNullable<CacheRule["rows"]>, addition: RuleAddition): string {
  const keys = new Map<string, string[]>();
  const add = (key: (typeof LISTS)[number] | "trace", text: string) => {
    const name = rows[key] ?? rule.name;
    keys.set(name, [...(keys.get(name) ?? []), `${key} = ${text}`]);
  };
  for (const list of LISTS) if (addition[list]) add(list, tomlValue(valuesOf(rule, addition, list)));
  if (addition.trace === false) add("trace", "false");
  return [...keys].map(([name, each]) => `set in [tasks.${tomlKey(name)}]: ${each.join(", ")}`).join("; ");
}

function valuesOf(rule: CacheRule, addition: RuleAddition, list: (typeof LISTS)[number]): string[] {
  return [...new Set([...rule[list], ...(addition[list] ?? [])])];
}

/** Returns a glob for one path: relative to the package if it is in the project, absolute otherwise. */
export function globOf(path: string, packageDirectory: string, isInProject: boolean): string {
  return literally(withSlashes(isInProject ? relative(packageDirectory, path) : path));
}
