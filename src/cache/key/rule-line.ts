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
export function tableOf({ isOfTask, name }: Pick<CacheRule, "isOfTask" | "name">): string {
  return isOfTask ? `[tasks.${tomlKey(name)}]` : "[run.cache]";
}

/** Returns the end of a sentence. A line of [run.cache] is complete, because it replaces the rule; [tasks] needs the changed keys. */
export function describeRule(rule: CacheRule, addition: RuleAddition): string {
  const parts = LISTS.flatMap((list) => {
    const added = addition[list];
    const values = [...new Set([...rule[list], ...(added ?? [])])];
    const isKept = values.length > 0 || (list === "outputs" && rule.saysOutputs);
    return (rule.isOfTask ? added : isKept) ? `${list} = ${tomlValue(values)}` : [];
  });
  if (!rule.isShared && !rule.isOfTask) parts.push("shared = false");
  if (addition.trace === false || !(rule.isTraced || rule.isOfTask)) parts.push("trace = false");
  const [name, keys] = [tomlKey(rule.name), parts.join(", ")];
  return rule.isOfTask
    ? `set in ${tableOf(rule)}: ${keys}`
    : `set its rule in [run.cache] to: ${name} = { ${keys} }`;
}

/** Returns a glob for one path: relative to the package if it is in the project, absolute otherwise. */
export function globOf(path: string, packageDirectory: string, isInProject: boolean): string {
  return literally(withSlashes(isInProject ? relative(packageDirectory, path) : path));
}
