// Derives a second cache entry from a run that found outputs of earlier runs. It is the entry of a checkout without them.
// So `rm -rf dist` after a build needs no new run, and neither does a fresh clone.
//
// Invariants:
// - An earlier output counts as absent only if an earlier run created it and the script did not read its content.
// - The derived entry restores every earlier output that the script probed and kept: the script may have skipped it (cp -u).
// - A folder cannot be absent if the script listed it while such an output was in it.
import type { TracedPath } from "../../../platform/tracing/contract/tracing.ts";
import type { RecordedDependency, CacheEntry, RecordedOutput } from "./entry.ts";
import { isBelow } from "../relocation/stored-path.ts";
import type { EntryDraft } from "./entry-builder.ts";

type RecordedState = Exclude<RecordedDependency, { 0: "names" | "absent" | "any" | "other" }>;

/**
 * Returns null if the run found no earlier output, or has read one.
 *
 * @param earlier entries of runs that were started in the same way; their paths are absolute
 * @param sizeOf the size of a content in the store, in bytes; undefined if it is missing
 */
export function deriveCleanStart(
  { conditions, outputs, own }: EntryDraft,
  paths: readonly TracedPath[],
  earlier: readonly CacheEntry[],
  sizeOf: (hash: string) => number | undefined,
): EntryDraft | null {
  const created = collectCreated(earlier);
  const read = new Set(paths.filter(({ isRead, isWritten }) => isRead && !isWritten).map(({ path }) => path));
  const made = new Set(outputs.map(({ path }) => path));
  const found = new Map<string, RecordedOutput>();
  for (const condition of conditions) {
    const output = findEarlier(condition, created, sizeOf);
    if (!output) continue;
    if (read.has(output.path) || (output.kind === "link" && !made.has(output.path))) return null;
    found.set(output.path, output);
  }
  dropOccupied(found, conditions);
  if (found.size === 0) return null;
  const kept = conditions.map((each): RecordedDependency =>
    isStateOf(each, found) ? ["absent", each[1]] : each,
  );
  const listed = new Set(conditions.filter(([kind]) => kind === "names").map(([, path]) => path));
  const added = [...found.values()].filter(({ path }) => !made.has(path));
  const folders = [...found.values()].filter(({ kind, path }) => kind === "directory" && !listed.has(path));
  const names = folders.map(({ path }): RecordedDependency => ["names", path, []]);
  return { conditions: [...kept, ...names], outputs: [...outputs, ...added], own };
}

function isStateOf(condition: RecordedDependency, found: ReadonlyMap<string, unknown>): boolean {
  return condition[0] !== "names" && condition[0] !== "any" && found.has(condition[1]);
}

/** Returns, for each path, the outputs that an earlier run created where no file existed. */
function collectCreated(earlier: readonly CacheEntry[]): ReadonlyMap<string, readonly RecordedOutput[]> {
  const created = new Map<string, RecordedOutput[]>();
  for (const { conditions, outputs } of earlier) {
    const existed = new Set<string>();
    for (const [kind, path] of conditions)
      if (kind !== "absent" && kind !== "any" && kind !== "names") existed.add(path);
    for (const output of outputs)
      if (output.kind !== "absent" && !existed.has(output.path))
        created.set(output.path, [...(created.get(output.path) ?? []), output]);
  }
  return created;
}

/** Returns the earlier output that a recorded dependency describes. */
function findEarlier(
  condition: RecordedDependency,
  created: ReadonlyMap<string, readonly RecordedOutput[]>,
  sizeOf: (hash: string) => number | undefined,
): RecordedOutput | undefined {
  if (!isState(condition)) return undefined;
  return created.get(condition[1])?.find((output) => isDescribed(output, condition, sizeOf));
}

function isState(condition: RecordedDependency): condition is RecordedState {
  return ["directory", "file", "size", "link"].includes(condition[0]);
}

function isDescribed(
  output: RecordedOutput,
  condition: RecordedState,
  sizeOf: (hash: string) => number | undefined,
): boolean {
  if (condition[0] === "directory") return output.kind === "directory" && output.mode === condition[2];
  if (condition[0] === "link") return output.kind === "link" && output.target === condition[2];
  if (output.kind !== "file" || output.mode !== condition[3]) return false;
  return condition[0] === "file" ? output.hash === condition[2] : sizeOf(output.hash) === condition[2];
}

/** Removes the folders that cannot be absent, because the script depends on something in them. */
function dropOccupied(found: Map<string, RecordedOutput>, conditions: readonly RecordedDependency[]): void {
  const isNeeded = (condition: RecordedDependency): boolean => {
    if (condition[0] === "names") return condition[2].length > 0;
    return condition[0] !== "absent" && condition[0] !== "any" && !found.has(condition[1]);
  };
  for (let count = -1; count !== found.size;) {
    count = found.size;
    for (const condition of conditions.filter(isNeeded))
      for (const path of found.keys())
        if (isBelow(condition[1], path) || (condition[0] === "names" && condition[1] === path))
          found.delete(path);
  }
}
