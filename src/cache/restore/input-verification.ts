// Compares the trace of a script with its declared inputs and outputs (--verify-inputs).
//
// Invariants:
// - Without a finding, the declaration is complete for this run, so it can be trusted on systems without tracing.
// - Files in node_modules are declared by the lockfile. Machine paths need no declaration.
import { isAbsolute, join } from "node:path";
import type { Trace } from "../../../platform/tracing/contract/tracing.ts";
import { declaredInputs } from "../key/declared-inputs.ts";
import { describeNotCached, type DescribedScript } from "../entry/uncacheable-reasons.ts";
import { hasWritten, type ProjectView } from "../entry/entry-builder.ts";
import { describeRule, globOf } from "../key/rule-line.ts";
import { NotCacheableError } from "../entry/not-cacheable-error.ts";
import type { CacheRule } from "../../config/settings/cache.ts";
import type { IsMachinePath } from "../relocation/machine-paths.ts";
import { isBelow, toPortablePath } from "../relocation/stored-path.ts";

interface Undeclared {
  /** Portable paths; sorted. */
  readonly read: readonly string[];
  readonly written: readonly string[];
}

/** Returns messages; none if all accesses are declared. @throws UserError */
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

/** @throws NotCacheableError, UserError */
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

/** Returns no line if all accesses are declared. */
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
