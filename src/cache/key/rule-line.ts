// Formats the rule of a script, with additions, as a line for [run.cache], or as keys of [tasks].
import { relative } from "node:path";
import { tomlKey, tomlValue } from "../../config-hint.ts";
import type { CacheRule } from "../../config/settings/cache.ts";
import { literally } from "./rule-globs.ts";
import { withSlashes } from "../entry/relocation.ts";

type List = "env" | "inputs" | "outputs" | "ignore";

/** Additional values for the lists of a rule; `trace: false` turns tracing off. */
export type RuleAddition = { readonly [list in List]?: readonly string[] } & { readonly trace?: false };

/** Returns the end of a sentence. The line is complete and replaces the present rule. */
export function describeRule(rule: CacheRule, addition: RuleAddition): string {
  const parts = (["env", "inputs", "outputs", "ignore"] as const).flatMap((list) => {
    const values = [...new Set([...rule[list], ...(addition[list] ?? [])])];
    const isSaid = values.length > 0 || (list === "outputs" && rule.saysOutputs);
    return isSaid ? `${list} = ${tomlValue(values)}` : [];
  });
  if (rule.isOfTask) return describeTaskKeys(rule, addition);
  if (!rule.isShared) parts.push("shared = false");
  if (!rule.isTraced || addition.trace === false) parts.push("trace = false");
  return `set its rule in [run.cache] to: ${tomlKey(rule.name)} = { ${parts.join(", ")} }`;
}

/** Returns the keys to set in [tasks], each with the complete list. */
function describeTaskKeys(rule: CacheRule, addition: RuleAddition): string {
  const lists = (["env", "inputs", "outputs", "ignore"] as const).flatMap((list) =>
    addition[list] ? `${list} = ${tomlValue([...new Set([...rule[list], ...addition[list]])])}` : [],
  );
  const keys = addition.trace === false ? [...lists, "trace = false"] : lists;
  return `set in [tasks.${tomlKey(rule.name)}]: ${keys.join(", ")}`;
}

/** Returns a glob for one path: relative to the package if it is in the project, absolute otherwise. */
export function globOf(path: string, packageDirectory: string, isInProject: boolean): string {
  return literally(withSlashes(isInProject ? relative(packageDirectory, path) : path));
}
