// --verify-inputs: what a script was seen to read and write, beside what its rule would go by where nobody can look.
//
// Contract: who is told of nothing here may trust the declaration elsewhere, for what the script has done this time. What is
// installed is declared by the lockfile, what belongs to the machine or to the user by nobody.
import type { Trace } from "../../platform/contract/tracing.ts";
import { declaredInputs } from "./declaration.ts";
import { hasWritten, type Rooted } from "./record.ts";
import type { CacheRule } from "../settings/cache.ts";
import { isBelow, type IsFixed, keepPath } from "./place.ts";

export interface Undeclared {
  /** From the root where they are in it; sorted. */
  readonly read: readonly string[];
  readonly written: readonly string[];
}

/** @param isFixed as `fixedPlaces` says. Throws Unkept, Failure */
export async function findUndeclared(
  { paths }: Trace,
  rule: CacheRule,
  world: Rooted,
  isFixed: IsFixed,
): Promise<Undeclared> {
  const declared = new Set(await declaredInputs(rule, world));
  const read: string[] = [];
  const written: string[] = [];
  for (const traced of paths) {
    const { path, first, isRead } = traced;
    if (world.isIgnored(path) || world.isDeclared(path)) continue;
    const now = world.look(path);
    const shown = keepPath(path, world.root);
    if (hasWritten(traced, now)) {
      if (now.kind !== "directory" && (now.kind !== "absent" || first.kind !== "absent")) written.push(shown);
    }
    if (!isRead || first.kind !== "file" || declared.has(path)) continue;
    const isOfOthers = isBelow(path, world.root) ? /[\\/]node_modules[\\/]/.test(path) : isFixed(path, true);
    if (!isOfOthers) read.push(shown);
  }
  return { read: read.sort(), written: written.sort() };
}

const MOST_SHOWN = 20;

/** Lines for people; none where all is declared. */
export function describeUndeclared(label: string, { read, written }: Undeclared): string[] {
  const lines = [
    ...read.map((path) => `${label} reads ${path}, which is not declared: inputs in [run.cache]`),
    ...written.map((path) => `${label} writes ${path}, which is not declared: outputs in [run.cache]`),
  ];
  const rest = lines.length - MOST_SHOWN;
  return rest > 0 ? [...lines.slice(0, MOST_SHOWN), `${label} has ${rest} more of these`] : lines;
}
