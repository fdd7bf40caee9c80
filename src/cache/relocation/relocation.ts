// Relocates entries, so that another checkout of the project, or another user, hits the entries of the first one.
//
// Invariants:
// - A dependency outside the project must match under its own path. It must match too under the path with equal `..`
//   steps from the new root. A negative dependency above the project must hold for every directory above the new
//   root.
// - A dependency in a folder of the user (user-folders.ts) must match in the same folder of another user.
//
// Non-obvious:
// - rt cannot distinguish a path that was reached by `..` from an absolute one, so both are checked. Machine paths
//   (system directories, PATH, dot files of the home directory) are absolute.
import { dirname } from "node:path";
import type { CacheEntry, Mention, RecordedDependency, RecordedOutput, StoredEntry } from "../entry/entry.ts";
import { memoizeByLocation } from "./location-memo.ts";
import type { IsMachinePath } from "./machine-paths.ts";
import { isSameSearchPath, type SearchedPath } from "./search-path.ts";
import { ancestorsOf, pathInProject, toStoredPath } from "./stored-path.ts";
import { MARKS, type UserFolders, splitMark } from "./user-folders.ts";

export function toPortableEntry(
  entry: CacheEntry,
  root: string,
  folders: UserFolders,
  mentioned: readonly Mention[],
): StoredEntry {
  const keep = (path: string) => toStoredPath(path, root, folders);
  return {
    ...entry,
    root,
    folders,
    mentioned,
    conditions: entry.conditions.map((each) => atPath(each, keep(each[1]))),
    outputs: entry.outputs.map((each) => ({ ...each, path: keep(each.path) })),
    own: entry.own.map(keep),
  };
}

/** A directory in a repository, and a file in a git worktree. */
export const REPOSITORY_NAME = ".git";
const REPOSITORY_KINDS: readonly string[] = [`d${REPOSITORY_NAME}`, `f${REPOSITORY_NAME}`];
/** Matches both types in a listing. */
export const REPOSITORY = `?${REPOSITORY_NAME}`;

export function isRepository(name: string): boolean {
  return REPOSITORY_KINDS.includes(name);
}

/** Removes the type of `.git` from listings. A script that accesses `.git` itself has a separate dependency on it. */
export function withoutRepositoryKind(conditions: readonly RecordedDependency[]): RecordedDependency[] {
  const generalize = (name: string) => (isRepository(name) ? REPOSITORY : name);
  return conditions.map((each) =>
    each[0] === "names" && each[2].some(isRepository)
      ? (each.with(2, each[2].map(generalize)) as unknown as RecordedDependency)
      : each,
  );
}

export interface EntryLocation {
  readonly root: string;
  readonly folders: UserFolders;
  /** Without the directories above the project that depend on the checkout. */
  readonly searchPath: SearchedPath;
  readonly isMachinePath: IsMachinePath;
}

/** Returns the entry with absolute paths; null if it has paths in a folder that this user does not have. */
export function relocateEntry(stored: StoredEntry, location: EntryLocation): CacheEntry | null {
  const { label, created, duration, log, root: first, folders: before = {} } = stored;
  const { root, folders, isMachinePath } = location;
  const locate = (path: string) => pathInProject(path, root) ?? pathOutside(path, folders) ?? path;
  const outputs = stored.outputs.map((each): RecordedOutput => ({ ...each, path: locate(each.path) }));
  const own = stored.own.map(locate);
  const relocated = relocatedFor(location);
  const above = new Set(root === first ? [] : ancestorsOf(first));
  const ofUser = new Set([...directoriesOfUser(before, folders), ...otherSearched(stored, location)]);
  const conditions: RecordedDependency[] = [];
  const outside: OutsideDependency[] = [];
  for (const each of stored.conditions) {
    const [kind, path] = each;
    if (kind === "directory" && ofUser.has(path)) continue;
    const isOutside = above.size > 0 && pathInProject(path, root) === undefined;
    if (isOutside) {
      const condition = atPath(each, originalPath(path, before));
      outside.push({ condition, stored: path });
      if (isOnWalk(condition, above)) continue;
    }
    const here = relocateDependency(each, location, relocated);
    if (!here) return null;
    conditions.push(here);
  }
  if (above.size > 0) conditions.push(...dependenciesFromRoot(root, outside, first, stored, isMachinePath));
  return { label, created, duration, log, conditions, outputs, own };
}

/** Returns the folders whose permissions do not count, because each user has others. */
function directoriesOfUser(before: UserFolders, folders: UserFolders): ReadonlySet<string> {
  const moved = MARKS.filter((mark) => before[mark] !== folders[mark]);
  return new Set(moved.flatMap((mark) => [mark, ...(before[mark] ? ancestorsOf(before[mark]) : [])]));
}

/** Returns the directories of PATH, and those above them, if PATH is another one here: searched-programs.ts. */
function otherSearched({ programs }: StoredEntry, { root, searchPath }: EntryLocation): string[] {
  if (!programs || isSameSearchPath(searchPath, programs)) return [];
  return programs.path
    .filter((each) => pathInProject(each, root) === undefined)
    .flatMap((each) => [each, ...storedAncestors(each)]);
}

function storedAncestors(stored: string): string[] {
  const parts = stored.split("/");
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/") || "/");
}

/** Returns whether a dependency is only on the walk from `/` to the project: parent-folder-names.ts. */
function isOnWalk(condition: RecordedDependency, above: ReadonlySet<string>): boolean {
  const [kind, path] = condition;
  return (kind === "directory" || (kind === "names" && condition[3] !== undefined)) && above.has(path);
}

/** Returns where a stored path was when the script ran. */
function originalPath(stored: string, before: UserFolders): string {
  const marked = splitMark(stored);
  return marked ? (before[marked.mark] ?? "") + marked.rest : stored;
}

/** Returns the path that a path outside of the project means here; undefined if there is no such folder. */
function pathOutside(stored: string, folders: UserFolders): string | undefined {
  const marked = splitMark(stored);
  if (!marked) return stored;
  const folder = folders[marked.mark];
  return folder && folder + marked.rest;
}

type Relocated = WeakMap<RecordedDependency, RecordedDependency>;

/** Returns the relocated dependencies by stored ones: entries share objects, which are validated once. */
const relocatedFor = memoizeByLocation((): Relocated => new WeakMap());

function relocateDependency(
  stored: RecordedDependency,
  { root, folders }: EntryLocation,
  relocated: Relocated,
): RecordedDependency | undefined {
  let here = relocated.get(stored);
  if (!here) {
    const path = pathInProject(stored[1], root) ?? pathOutside(stored[1], folders);
    if (path !== undefined) relocated.set(stored, (here = atPath(stored, path)));
  }
  return here;
}

function atPath(condition: RecordedDependency, path: string): RecordedDependency {
  return condition.with(1, path) as unknown as RecordedDependency;
}

interface OutsideDependency {
  /** With the path that it had when the script ran. */
  readonly condition: RecordedDependency;
  readonly stored: string;
}

/** Returns additional dependencies: the same `..` steps from the new root lead to other paths. */
function dependenciesFromRoot(
  root: string,
  outside: readonly OutsideDependency[],
  first: string,
  { programs }: StoredEntry,
  isMachinePath: IsMachinePath,
): RecordedDependency[] {
  const before = ancestorsOf(first);
  const now = ancestorsOf(root);
  if (before[0] === now[0]) return [];
  const there = new Set(
    outside.map(({ condition }) => condition).flatMap(([kind, path]) => (kind === "absent" ? [] : [path])),
  );
  const searched = new Set(programs?.path);
  const above = new Set(before);
  const added = new Map<string, RecordedDependency>();
  for (const { condition, stored } of outside) {
    const [kind, path] = condition;
    if (kind === "directory" && above.has(path)) continue;
    const level = before.findIndex((each) => each === path || each === "/" || path.startsWith(`${each}/`));
    const rest = path.slice(before[level]!.length).replace(/^(?=[^/])/, "/");
    const at = (index: number) => {
      const directory = now[Math.min(index, now.length - 1)]!;
      return (directory === "/" ? "" : directory) + rest || "/";
    };
    if (isOnWalk(condition, above)) continue;
    if (isMachinePath(path, kind !== "absent") || isOfUser(stored, kind)) continue;
    if (searched.has(dirname(stored))) continue;
    if (kind === "absent") {
      // A lookup in each parent directory stops where the file exists.
      for (let index = level; index <= Math.max(level, now.length - 1) && !there.has(at(index)); index += 1)
        added.set(`absent ${at(index)}`, ["absent", at(index)]);
    } else if (at(level) !== path) added.set(`${kind} ${at(level)}`, atPath(condition, at(level)));
  }
  return [...added.values(), ...listingsAbove(now, before, outside)];
}

/**
 * Returns the listings on the walk from `/` to the project. A folder above both checkouts must have the same names, and so
 * must the folder at the same distance. Any other folder must have none that a resolver looks for.
 */
function listingsAbove(
  now: readonly string[],
  before: readonly string[],
  outside: readonly OutsideDependency[],
): RecordedDependency[] {
  const above = new Set(before);
  const walk = new Map(
    outside.flatMap(({ condition }) =>
      condition[0] === "names" && isOnWalk(condition, above) ? [[condition[1], condition] as const] : [],
    ),
  );
  if (walk.size === 0) return [];
  return now.flatMap((path, level) => {
    const distant = before[level];
    const nearest = above.has(path) || distant === undefined || now.includes(distant) ? path : distant;
    if (above.has(path) && !walk.has(path)) return [];
    return [atPath(walk.get(nearest) ?? ["names", path, [], []], path)];
  });
}

/** Returns whether a path is a dot file, or the home directory, of the user whose script ran. */
function isOfUser(stored: string, kind: RecordedDependency[0]): boolean {
  const marked = splitMark(stored);
  if (!marked) return false;
  if (marked.rest === "") return true;
  return kind !== "absent" && marked.mark !== "~tmp" && (marked.mark !== "~" || marked.rest.startsWith("/."));
}
