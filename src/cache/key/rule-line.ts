// Writes the rule of a script as a line that can be pasted below [run.cache]: what the rule says now, with an addition.
import { relative } from "node:path";
import { oneLine } from "../../printable.ts";
import type { CacheRule } from "../../config/settings/cache.ts";
import { literally } from "./rule-globs.ts";
import { withSlashes } from "../entry/relocation.ts";

type List = "env" | "inputs" | "outputs" | "ignore";

/** Values for the lists of a rule; `trace` turns tracing off. */
export type Addition = { readonly [list in List]?: readonly string[] } & { readonly trace?: false };

/** Ends a sentence: the line is complete, and takes the place of the rule that is there. */
export function describeRule(rule: CacheRule, addition: Addition): string {
  const parts = (["env", "inputs", "outputs", "ignore"] as const).flatMap((list) => {
    const values = [...new Set([...rule[list], ...(addition[list] ?? [])])];
    const isSaid = values.length > 0 || (list === "outputs" && rule.saysOutputs);
    return isSaid ? `${list} = [${values.map((value) => JSON.stringify(value)).join(", ")}]` : [];
  });
  if (!rule.isShared) parts.push("shared = false");
  if (!rule.isTraced || addition.trace === false) parts.push("trace = false");
  const name = /^[\w-]+$/.test(rule.name) ? rule.name : JSON.stringify(rule.name);
  return oneLine(`set its rule in [run.cache] to: ${name} = { ${parts.join(", ")} }`);
}

/** A pattern for one path: from the package where the path is in the project, else absolute. */
export function globOf(path: string, packageDirectory: string, isInProject: boolean): string {
  return literally(withSlashes(isInProject ? relative(packageDirectory, path) : path));
}
