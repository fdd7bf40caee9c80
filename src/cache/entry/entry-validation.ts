// Validates a stored entry against the file system. Returns the first mismatch as text (the cache miss reason).
//
// Invariants:
// - An output may be in its state before the run or after it. A created directory may contain stale outputs in
//   addition, which the restore deletes (stale-outputs.ts).
// - Validation changes nothing.
import type { ListDirectory, StatPath, PathState } from "../../../platform/tracing/contract/tracing.ts";
import { type CacheEntry, OPTIONAL, type RecordedDependency, type RecordedOutput } from "./entry.ts";
import type { FileHashCache } from "../store/file-hash-cache.ts";
import type { Matcher } from "../key/rule-globs.ts";
import { isRepository, REPOSITORY } from "../relocation/relocation.ts";
import { isBelow } from "../relocation/stored-path.ts";
import { isSought } from "./parent-folder-names.ts";
import type { PathObservations } from "../memo/path-observations.ts";
import type { StatCache } from "../memo/stat-cache.ts";

export interface FileSystemView {
  readonly stat: StatPath;
  readonly list: ListDirectory;
  readonly hashes: FileHashCache;
  readonly isIgnored: Matcher;
  /** Shared by all scripts of a run. */
  readonly statCache: StatCache;
  /** Collects what the validation observed, if a run memo is to be written. */
  readonly observations?: PathObservations | undefined;
}

/** Finds outputs of other runs of the same script. */
export interface StaleOutputLookup {
  /** Returns whether the path is such an output, regardless of a directory's content. */
  has(path: string): Promise<boolean>;
  /** Returns the paths and everything below them if all may be deleted; null otherwise. */
  at(paths: readonly string[]): Promise<readonly string[] | null>;
}

const NOTHING_LEFT: StaleOutputLookup = { has: async () => false, at: async () => null };

export interface EntryValidation {
  /** Null if all recorded dependencies match. */
  readonly mismatch: string | null;
  /** Paths that the restore deletes. */
  readonly staleOutputs: readonly string[];
}

export async function validateEntry(
  entry: CacheEntry,
  view: FileSystemView,
  staleLookup = NOTHING_LEFT,
): Promise<EntryValidation> {
  const outputs = new Map(entry.outputs.map((output) => [output.path, output]));
  const own = new Set(outputs.keys());
  const added: string[] = [];
  let obstruction: string | null = null;
  for (const condition of entry.conditions) {
    const [kind, path] = condition;
    if (kind === "names") {
      const names = compareNames(condition[2], namesOf(path, view, own, condition[3]), path);
      if (names.difference === null) continue;
      // Restoring a created directory replaces another file type at its path, for example a link to another
      // directory.
      if (condition[2].length === 0 && view.stat(path).kind !== "directory") continue;
      const isMade = outputs.get(path)?.kind === "directory";
      if (!isMade || names.added.length === 0) return { mismatch: names.difference, staleOutputs: [] };
      obstruction ??= names.difference;
      added.push(...names.added);
      continue;
    }
    let difference = view.statCache.cachedVerdict(condition);
    if (difference === undefined) difference = await validateState(condition, view);
    else view.stat(path); // adds the path to the observations of this script
    if (difference === null) continue;
    const output = outputs.get(path);
    if (output && (await isOutput(output, view.stat(path), view.hashes))) continue;
    const isReplaced = kind === "absent" && output && view.stat(path).kind !== "directory";
    if (!isReplaced || !(await staleLookup.has(path))) return { mismatch: difference, staleOutputs: [] };
  }
  // One call for all paths, because each call starts git.
  const staleOutputs = added.length > 0 ? await staleLookup.at(added) : [];
  return staleOutputs ? { mismatch: null, staleOutputs } : { mismatch: obstruction, staleOutputs: [] };
}

/**
 * Returns all differences of an entry that is not valid, as texts: files of the project first, then installed packages,
 * then files outside the project. Empty if only outputs of earlier runs are in the way.
 */
export async function listDifferences(
  entry: CacheEntry,
  view: FileSystemView & { readonly root: string },
): Promise<string[]> {
  const outputs = new Map(entry.outputs.map((output) => [output.path, output]));
  const own = new Set(outputs.keys());
  const found: { readonly path: string; readonly text: string }[] = [];
  for (const condition of entry.conditions) {
    const [kind, path] = condition;
    const isMade = outputs.get(path)?.kind === "directory";
    const text =
      kind === "names"
        ? isMade
          ? null
          : compareNames(condition[2], namesOf(path, view, own, condition[3]), path).difference
        : (view.statCache.cachedVerdict(condition) ?? (await validateState(condition, view)));
    if (text === null) continue;
    const output = outputs.get(path);
    if (output && (kind === "absent" || (await isOutput(output, view.stat(path), view.hashes)))) continue;
    found.push({ path, text });
  }
  const rankOf = (path: string) =>
    !isBelow(path, view.root) ? 2 : /[\\/]node_modules[\\/]/.test(path) ? 1 : 0;
  const sorted = found.toSorted((a, b) => rankOf(a.path) - rankOf(b.path));
  return [...new Set(sorted.map(({ text }) => text))];
}

async function validateState(
  condition: Exclude<RecordedDependency, { 0: "names" }>,
  { stat, hashes, statCache }: FileSystemView,
): Promise<string | null> {
  const { generation } = statCache;
  const verdict = await compareState(condition, stat(condition[1]), hashes);
  statCache.storeVerdict(condition, verdict, generation);
  return verdict;
}

/** Returns null if the directory does not exist. @param stems if only some names count: parent-folder-names.ts */
export function namesOf(
  path: string,
  { list, isIgnored }: FileSystemView,
  own: ReadonlySet<string>,
  stems?: readonly string[],
): string[] | null {
  const base = path === "/" ? "" : path;
  const isCounted = (name: string) =>
    (!stems || isSought(name, stems)) &&
    !own.has(`${base}/${name.slice(1)}`) &&
    !isIgnored(`${base}/${name.slice(1)}`);
  return list(path)?.filter(isCounted) ?? null;
}

/** Returns added names as paths; empty if there is another difference. */
function compareNames(
  before: readonly string[],
  now: readonly string[] | null,
  path: string,
): { readonly difference: string | null; readonly added: readonly string[] } {
  if (now === null)
    return { difference: before.length === 0 ? null : `cannot read directory ${path}`, added: [] };
  const old = new Set(before);
  const found = old.has(REPOSITORY) ? now.map((name) => (isRepository(name) ? REPOSITORY : name)) : now;
  const fresh = new Set(found);
  const added = found
    .filter((name) => !old.has(name) && !old.has(OPTIONAL + name))
    .map((name) => `${path}/${name.slice(1)}`);
  const removed = before.find((name) => !fresh.has(name) && !name.startsWith(OPTIONAL));
  if (added.length > 0)
    return { difference: `${added[0]} was added`, added: removed === undefined ? added : [] };
  return {
    difference: removed === undefined ? null : `${path}/${removed.slice(1)} was removed`,
    added,
  };
}

export async function compareState(
  condition: Exclude<RecordedDependency, { 0: "names" }>,
  state: PathState,
  hashes: FileHashCache,
) {
  const [kind, path] = condition;
  if (kind === "any")
    return state.kind === "file" || state.kind === "absent" ? null : `${path} changed (type)`;
  if (kind === "absent") return state.kind === "absent" ? null : `${path} now exists`;
  if (state.kind === "absent") return `${path} was removed`;
  if (kind === "other") return state.kind === "other" ? null : `${path} changed (type)`;
  if (kind === "directory") {
    if (state.kind !== "directory") return `${path} changed (type)`;
    return describeMode(path, condition[2], state.mode);
  }
  if (kind === "link")
    return state.kind === "link" && state.target === condition[2] ? null : `${path} changed (symlink target)`;
  if (state.kind !== "file") return `${path} changed (type)`;
  if (state.mode !== condition[3]) return describeMode(path, condition[3]!, state.mode);
  if (kind === "size") return state.size === condition[2] ? null : `${path} changed (size)`;
  return (await hashes.hash(path, state)) === condition[2] ? null : `${path} changed`;
}

function describeMode(path: string, before: number, now: number): string | null {
  return now === before
    ? null
    : `${path} changed (permissions ${now.toString(8)}, not ${before.toString(8)})`;
}

/** Returns whether a path is in the state that the run left. */
export async function isOutput(
  output: RecordedOutput,
  state: PathState,
  hashes: FileHashCache,
): Promise<boolean> {
  if (output.kind === "absent") return state.kind === "absent";
  if (output.kind === "directory") return state.kind === "directory" && state.mode === output.mode;
  if (output.kind === "link") return state.kind === "link" && state.target === output.target;
  if (state.kind !== "file" || state.mode !== output.mode) return false;
  return (await hashes.hash(output.path, state)) === output.hash;
}
