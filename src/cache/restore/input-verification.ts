// --verify-inputs: what a script was seen to read and write, beside what its rule would go by where nobody can look.
//
// Contract: who is told of nothing here may trust the declaration elsewhere, for what the script has done this time. What is
// installed is declared by the lockfile, what belongs to the machine or to the user by nobody.
import { isAbsolute, join } from "node:path";
import type { Trace } from "../../../platform/tracing/contract/tracing.ts";
import { declaredInputs } from "../key/declared-inputs.ts";
import { describeNotCached, type DescribedScript } from "../entry/uncacheable-reasons.ts";
import { hasWritten, type ProjectView } from "../entry/entry-builder.ts";
import { describeRule, globOf } from "../key/rule-line.ts";
import { NotCacheableError } from "../entry/not-cacheable-error.ts";
import type { CacheRule } from "../../config/settings/cache.ts";
import { isBelow, type IsMachinePath, toPortablePath } from "../entry/relocation.ts";

interface Undeclared {
  /** From the root where they are in it; sorted. */
  readonly read: readonly string[];
  readonly written: readonly string[];
}

/** Lines for people; without any it has done nothing but what is declared. @param isFixed as `fixedPlaces` says. Throws Failure. */
export async function verify(
  script: DescribedScript,
  trace: Trace,
  rule: CacheRule,
  project: ProjectView,
  isMachinePath: IsMachinePath,
): Promise<string[]> {
  try {
    if (trace.incompleteReason)
      throw new NotCacheableError(trace.incompleteReason.kind, trace.incompleteReason.detail);
    return describeUndeclared(script, await findUndeclared(trace, rule, project, isMachinePath));
  } catch (error) {
    if (!(error instanceof NotCacheableError)) throw error;
    return [describeNotCached(script, error.why, error.detail)];
  }
}

/** Throws Unkept, Failure. */
async function findUndeclared(
  { paths }: Trace,
  rule: CacheRule,
  project: ProjectView,
  isMachinePath: IsMachinePath,
): Promise<Undeclared> {
  const declared = new Set(await declaredInputs(rule, project));
  const read: string[] = [];
  const written: string[] = [];
  for (const traced of paths) {
    const { path, first, last: now = first, isRead } = traced;
    if (project.isIgnored(path) || project.isDeclared(path)) continue;
    const shown = toPortablePath(path, project.root);
    if (hasWritten(traced)) {
      if (now.kind !== "directory" && (now.kind !== "absent" || first.kind !== "absent")) written.push(shown);
    }
    if (!isRead || first.kind !== "file" || declared.has(path)) continue;
    const isOfOthers = isBelow(path, project.root)
      ? /[\\/]node_modules[\\/]/.test(path)
      : isMachinePath(path, true);
    if (!isOfOthers) read.push(shown);
  }
  return { read: read.sort(), written: written.sort() };
}

const MAX_LINES = 20;

/** None where all is declared. */
function describeUndeclared(
  { label, rule, packageDirectory, root }: DescribedScript,
  { read, written }: Undeclared,
): string[] {
  const lines = [
    ...read.map((path) => `${label} reads ${path}, which is not declared`),
    ...written.map((path) => `${label} writes ${path}, which is not declared`),
  ];
  if (lines.length === 0) return [];
  const rest = lines.length - MAX_LINES;
  if (rest > 0) lines.splice(MAX_LINES, rest, `${label} has ${rest} more of these`);
  const toGlob = (path: string) =>
    isAbsolute(path)
      ? globOf(path, packageDirectory, false)
      : globOf(join(root, path), packageDirectory, true);
  const [inputs, outputs] = [read.map(toGlob), written.map(toGlob)];
  return [...lines, `to declare that, ${describeRule(rule, { inputs, outputs })}`];
}
