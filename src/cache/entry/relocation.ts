// Where a project lies is no part of what is kept of a run, so that another checkout of it, a git worktree say, has hits of
// the first one's. Paths below the root are kept from there.
//
// Contract: an entry is taken for another root only where the script would have found the same. What is outside of the
// project has to be what it was, under its own path and under the one that leads there from the new root by `..`; what was
// looked for above the project and was not there must not be above the new root either, however deep that lies. And an
// entry whose files or lines have a word of the root's path in them is only good where that word stands in the same
// place: the script has seen where it is.
//
// Surprising: nobody can tell a path that was reached by `..` from one that was written down, so both have to be met. Places
// that all checkouts of a user share (the system's, the home directory's dot files, the directories of PATH) are written down.
import { sep } from "node:path";
import type { RecordedDependency, CacheEntry, StoredEntry, RecordedOutput } from "./entry.ts";

/** Of the root itself. */
const ROOT = ".";
/** Directories of the system that nobody goes to by `..`. */
const SYSTEM = /^\/(?:bin|sbin|lib\w*|usr|etc|opt|var|run|nix|snap|gnu)(?:\/|$)/;

/** From the root, with "/" between, for what is in it; the path itself for everything else. */
export function toPortablePath(path: string, root: string): string {
  if (path === root) return ROOT;
  return isBelow(path, root) ? withSlashes(path.slice(root.length + 1)) : path;
}

/** As globs have it; on Windows a name cannot have a backslash in it, and elsewhere it is one like any other. */
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

/** Whether a path may be in an entry, of whoever wrote it: what is put back has to be below the root. */
export function isPortablePath(stored: unknown, isInside: boolean): boolean {
  if (typeof stored !== "string" || stored === "" || stored.includes("\0")) return false;
  if (isAbsolutePath(stored)) return !isInside;
  return !stored.split(/[/\\]/).includes("..") && (!isInside || stored !== ROOT);
}

export function isBelow(path: string, root: string): boolean {
  return path.startsWith(root) && path[root.length] === sep;
}

const roots = new Map<string, RegExp>();

/** Without the root's path, for a key: two checkouts give the same text. */
export function withoutRoot(text: string, root: string): string {
  if (!text.includes(root)) return text;
  let pattern = roots.get(root);
  if (!pattern) roots.set(root, (pattern = new RegExp(`${RegExp.escape(root)}(?![\\w.-])`, "g")));
  return text.replaceAll(pattern, "\0root");
}

/** PATH without the directories of binaries above the root, which are named after where it is; looks at them are conditions. */
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

/** The name of a repository's folder, which is a file in a git worktree. */
export const REPOSITORY_NAME = ".git";
const REPOSITORY_KINDS: readonly string[] = [`d${REPOSITORY_NAME}`, `f${REPOSITORY_NAME}`];
/** In a listing: of either kind. */
export const REPOSITORY = `?${REPOSITORY_NAME}`;

export function isRepository(name: string): boolean {
  return REPOSITORY_KINDS.includes(name);
}

/** Removes the type of `.git` from listings. A script that looks at `.git` itself has a separate condition for it. */
export function withoutRepositoryKind(conditions: readonly RecordedDependency[]): RecordedDependency[] {
  const generalize = (name: string) => (isRepository(name) ? REPOSITORY : name);
  return conditions.map((each) =>
    each[0] === "names" && each[2].some(isRepository)
      ? (each.with(2, each[2].map(generalize)) as unknown as RecordedDependency)
      : each,
  );
}

/** Whether a path outside is the same one for every checkout. What is not there has more often been looked for. */
export type IsMachinePath = (path: string, isThere: boolean) => boolean;

/** The entry as it is meant for this root; null where it is none for it. */
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

/** The same object for the same object: entries share them. */
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

/** Words of a path, each with its place: `["home", "me", "shop"]`. */
export function wordsOf(root: string): string[] {
  return root.split(/[/\\]/).filter((each) => each !== "");
}

/** The name of the directory alone may stand anywhere; where more of the path was seen, all of that is in its place. */
function isValidForRoot(mentioned: readonly string[], first: string, root: string): boolean {
  const [before, now] = [wordsOf(first), wordsOf(root)];
  if (mentioned.includes(first)) return false;
  if (mentioned.every((each) => each === before.at(-1)))
    return mentioned.length === 0 || before.at(-1) === now.at(-1);
  return before.every((word, index) => !mentioned.includes(word) || now[index] === word);
}

/** What has to be met besides, since the same steps upwards lead elsewhere. */
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
      // Who looks for it in one directory after the other stops where it is.
      for (let index = level; index <= Math.max(level, now.length - 1) && !there.has(at(index)); index += 1)
        added.set(`absent ${at(index)}`, ["absent", at(index)]);
    } else if (at(level) !== path) added.set(`${kind} ${at(level)}`, atPath(condition, at(level)));
  }
  return [...added.values()];
}

/** From the directory that it is in up to "/". */
function ancestorsOf(root: string): string[] {
  const words = wordsOf(root);
  return words.map((_, index) => `/${words.slice(0, words.length - 1 - index).join("/")}`);
}

/** @param home as HOME has it. @param path as PATH has it */
export function machinePaths(home: string, path: string): IsMachinePath {
  // Only who comes from elsewhere asks.
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
