// Records which names in listed directories a script depends on.
//
// Invariants:
// - A directory has the same names at the end as at its first listing, apart from the script's outputs. Otherwise nothing
//   is cached.
// - A folder in a listing is optional only if git ignores it, but not the listed directory, and the script used nothing
//   in it. Such a folder is an output or a cache of another task (`.next`), which the script has skipped.
//
// Non-obvious:
// - Names in node_modules are never optional: bundlers read which packages are installed.
// - An added folder is not optional, because the script might not skip it.
// - A file that the script used in the folder is a dependency itself, so it need not be considered here.
import { basename, join } from "node:path";
import type { TracedPath } from "../../../platform/tracing/contract/tracing.ts";
import { isBelow } from "../relocation/stored-path.ts";
import type { ProjectView } from "./entry-builder.ts";
import { namesOf } from "./entry-validation.ts";
import { OPTIONAL, type RecordedDependency } from "./entry.ts";
import { NotCacheableError } from "./not-cacheable-error.ts";
import { collectUsed, isSought, stemsFor } from "./parent-folder-names.ts";

/** @param own paths that the script wrote @throws NotCacheableError */
export async function listingsOf(
  paths: readonly TracedPath[],
  own: ReadonlySet<string>,
  project: ProjectView,
): Promise<RecordedDependency[]> {
  const used = collectUsed(paths, project.root);
  const listed = paths.filter(({ path }) => !project.isIgnored(path));
  const skipped = await findSkipped(listed, project);
  return listed.flatMap((traced) => {
    const stems = stemsFor(traced, project.root, used);
    const names = namesIn(traced, own, project, stems);
    if (!names) return [];
    const counted = names.map((name) =>
      skipped.has(join(traced.path, name.slice(1))) ? OPTIONAL + name : name,
    );
    return [stems ? ["names", traced.path, counted, stems] : ["names", traced.path, counted]];
  });
}

/** Returns the folders that the script has seen in listings and skipped. */
async function findSkipped(
  listed: readonly TracedPath[],
  { root, selectSources }: ProjectView,
): Promise<ReadonlySet<string>> {
  const used = new Set(listed.map(({ path }) => path));
  const parents = new Map<string, string>();
  for (const { path, names } of listed)
    for (const name of path === root || isBelow(path, root) ? (names ?? []) : []) {
      const folder = join(path, name.slice(1));
      if (name.startsWith("d") && !used.has(folder)) parents.set(folder, path);
    }
  const sources = await selectSources([...parents.keys(), ...new Set(parents.values())]);
  const isSkipped = (folder: string) => !sources!.has(folder) && sources!.has(parents.get(folder)!);
  return new Set(sources ? [...parents.keys()].filter(isSkipped) : []);
}

/** Returns undefined if the directory was not listed. */
function namesIn(
  { path, names, first, last, unsteadyNames }: TracedPath,
  own: ReadonlySet<string>,
  project: ProjectView,
  stems: readonly string[] | undefined,
): readonly string[] | undefined {
  const isMade = first.kind === "absent" && last?.kind === "directory";
  if (!names && !isMade) return undefined;
  const seen = namesOf(path, { ...project, list: () => names ?? [] }, own, stems)!;
  // A created directory contains only names that the script created.
  const wanted = isMade ? [] : (namesOf(path, project, own, stems) ?? []);
  // The type of a temporary name is unknown, so it counts as a file and as a folder.
  const matters = (each: string) =>
    !stems || ["f", "d"].some((kind) => isSought(kind + basename(each), stems));
  const unsteady = unsteadyNames?.find((each) => !own.has(each) && !project.isIgnored(each) && matters(each));
  const [different] = new Set(wanted).symmetricDifference(new Set(seen));
  if (unsteady === undefined && different === undefined) return seen;
  const isInside = isBelow(path, project.root) || path === project.root;
  if (!isInside) throw new NotCacheableError("names", path);
  throw new NotCacheableError("added", unsteady ?? join(path, different!.slice(1)));
}
