// Relocates entries, so that a git worktree or another checkout of the project hits the entries of the first one.
//
// Invariants:
// - A dependency outside the project must match under its own path. It must match too under the path with equal `..`
//   steps from the new root. A negative dependency above the project must hold for every directory above the new
//   root.
// - If the outputs contain a word of the root's path, the new root must have that word at the same position.
//
// Non-obvious:
// - rt cannot distinguish a path that was reached by `..` from an absolute one, so both are checked. Machine paths
//   (system directories, PATH, dot files of the home directory) are absolute.
import { sep } from "node:path";
import type { RecordedDependency, CacheEntry, StoredEntry, RecordedOutput } from "./entry.ts";

/** The portable path of the root. */
const ROOT = ".";
/** System directories, which programs do not reach by `..`. */
const SYSTEM = /^\/(?:bin|sbin|lib\w*|usr|etc|opt|var|run|nix|snap|gnu)(?:\/|$)/;

/** Returns a path in the project relative to the root and with "/"; any other path unchanged. */
export function toPortablePath(path: string, root: string): string {
  if (path === root) return ROOT;
  return isBelow(path, root) ? withSlashes(path.slice(root.length + 1)) : path;
}

/** Returns a path with "/", as in globs. Only Windows paths are changed: elsewhere a name may contain a backslash. */
export function withSlashes(path: string): string {
  return sep === "/" ? path : path.replaceAll(sep, "/");
}

function resolvePortablePath(stored: string, root: string): string {
  if (stored === ROOT) return root;
  if (isAbsolutePath(stored)) return stored;
  return root + sep + (sep === "/" ? stored : stored.replaceAll("/", sep));
}

function isAbsolutePath(stored: string): boolean {
  return stored.startsWith("/") || /^[A-Za-z]:\\/.test(stored);
}

/** Returns whether an untrusted value may be a path of an entry. An output must be below the root (path traversal). */
export function isPortablePath(stored: unknown, isInside: boolean): boolean {
  if (typeof stored !== "string" || stored === "" || stored.includes("\0")) return false;
  if (isAbsolutePath(stored)) return !isInside;
  return !stored.split(/[/\\]/).includes("..") && (!isInside || stored !== ROOT);
}

export function isBelow(path: string, root: string): boolean {
  return path.startsWith(root) && path[root.length] === sep;
}

const roots = new Map<string, RegExp>();

/** Removes the root's path from a text, so that two checkouts compute the same cache key. */
export function withoutRoot(text: string, root: string): string {
  if (!text.includes(root)) return text;
  let pattern = roots.get(root);
  if (!pattern) roots.set(root, (pattern = new RegExp(`${RegExp.escape(root)}(?![\\w.-])`, "g")));
  return text.replaceAll(pattern, "\0root");
}

/**
 * Removes the `node_modules/.bin` directories above the root from PATH, because their paths depend on the checkout.
 * Accesses to them are recorded dependencies.
 */
export function withoutBinariesAbove(path: string, root: string): string {
  const above = new Set(ancestorsOf(root).map((each) => `${each === "/" ? "" : each}/node_modules/.bin`));
  return path
    .split(":")
    .filter((each) => !above.has(each))
    .join(":");
}

export function toPortableEntry(entry: CacheEntry, root: string, mentioned: readonly string[]): StoredEntry {
  const keep = (path: string) => toPortablePath(path, root);
  return {
    ...entry,
    root,
    mentioned: root === "/" ? [root] : mentioned,
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

/**
 * Returns whether a path outside the project is the same for all checkouts. Dot files that do not exist are excluded:
 * tools look for them in every parent directory.
 */
export type IsMachinePath = (path: string, isThere: boolean) => boolean;

/** Returns the entry with absolute paths below `root`; null if it is not valid there. */
export function relocateEntry(
  stored: StoredEntry,
  root: string,
  isMachinePath: IsMachinePath,
): CacheEntry | null {
  const { root: first, mentioned, ...rest } = stored;
  const place = (path: string) => resolvePortablePath(path, root);
  const conditions = stored.conditions.map((each) => relocateDependency(each, root));
  if (root !== first) {
    if (!isValidForRoot(mentioned, first, root)) return null;
    const outside = stored.conditions.filter(([, path]) => isAbsolutePath(path));
    const above = new Set(ancestorsOf(first));
    const moved = conditions.filter(([kind, path]) => kind !== "directory" || !above.has(path));
    return {
      ...rest,
      conditions: [...moved, ...dependenciesFromRoot(root, outside, first, isMachinePath)],
      ...relocateOutputs(),
    };
  }
  return { ...rest, conditions, ...relocateOutputs() };

  function relocateOutputs() {
    const outputs = stored.outputs.map((each): RecordedOutput => ({ ...each, path: place(each.path) }));
    return { outputs, own: stored.own.map(place) };
  }
}

const relocatedDependencies = new Map<string, WeakMap<RecordedDependency, RecordedDependency>>();

/** Returns the same object for the same object, because entries share dependencies. */
function relocateDependency(stored: RecordedDependency, root: string): RecordedDependency {
  let relocateOutputs = relocatedDependencies.get(root);
  if (!relocateOutputs) relocatedDependencies.set(root, (relocateOutputs = new WeakMap()));
  let condition = relocateOutputs.get(stored);
  if (!condition)
    relocateOutputs.set(stored, (condition = atPath(stored, resolvePortablePath(stored[1], root))));
  return condition;
}

function atPath(condition: RecordedDependency, path: string): RecordedDependency {
  return condition.with(1, path) as unknown as RecordedDependency;
}

/** Splits a path into words by position: `["home", "me", "shop"]`. */
export function wordsOf(root: string): string[] {
  return root.split(/[/\\]/).filter((each) => each !== "");
}

/** The name of the root directory alone may move to another position. Other words must keep their position. */
function isValidForRoot(mentioned: readonly string[], first: string, root: string): boolean {
  const [before, now] = [wordsOf(first), wordsOf(root)];
  if (mentioned.includes(first)) return false;
  if (mentioned.every((each) => each === before.at(-1)))
    return mentioned.length === 0 || before.at(-1) === now.at(-1);
  return before.every((word, index) => !mentioned.includes(word) || now[index] === word);
}

/** Returns additional dependencies: the same `..` steps from the new root lead to other paths. */
function dependenciesFromRoot(
  root: string,
  outside: readonly RecordedDependency[],
  first: string,
  isMachinePath: IsMachinePath,
): RecordedDependency[] {
  const before = ancestorsOf(first);
  const now = ancestorsOf(root);
  if (before[0] === now[0]) return [];
  const there = new Set(outside.filter(([kind]) => kind !== "absent").map(([, path]) => path));
  const added = new Map<string, RecordedDependency>();
  for (const condition of outside) {
    const [kind, path] = condition;
    if (kind === "directory" && before.includes(path)) continue;
    const level = before.findIndex((each) => each === path || each === "/" || path.startsWith(`${each}/`));
    const rest = path.slice(before[level]!.length).replace(/^(?=[^/])/, "/");
    const at = (index: number) => {
      const directory = now[Math.min(index, now.length - 1)]!;
      return (directory === "/" ? "" : directory) + rest;
    };
    if (isMachinePath(path, kind !== "absent")) continue;
    if (kind === "absent") {
      // A lookup in each parent directory stops where the file exists.
      for (let index = level; index <= Math.max(level, now.length - 1) && !there.has(at(index)); index += 1)
        added.set(`absent ${at(index)}`, ["absent", at(index)]);
    } else if (at(level) !== path) added.set(`${kind} ${at(level)}`, atPath(condition, at(level)));
  }
  return [...added.values()];
}

/** Returns the directories from the parent of `root` up to "/". */
function ancestorsOf(root: string): string[] {
  const words = wordsOf(root);
  return words.map((_, index) => `/${words.slice(0, words.length - 1 - index).join("/")}`);
}

/** @param home value of HOME @param path value of PATH */
export function machinePaths(home: string, path: string): IsMachinePath {
  // Computed lazily: only entries of another checkout need it.
  const ways = () => {
    const programs = new Set(path.split(":"));
    const named = [home, ...programs].filter((each) => each.startsWith("/"));
    return { programs, all: new Set(named.flatMap((each) => [each, ...ancestorsOf(each)])) };
  };
  let snapshot: ReturnType<typeof ways> | undefined;
  return (each, isThere) => {
    const { programs, all } = (snapshot ??= ways());
    return (
      SYSTEM.test(each) ||
      all.has(each) ||
      (isThere && home !== "" && each.startsWith(`${home}/.`)) ||
      programs.has(each.slice(0, each.lastIndexOf("/")))
    );
  };
}
