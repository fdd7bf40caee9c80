// Selects the members that `--filter` matches: filter-syntax.ts has the syntax.
//
// Invariants: filters are combined as a union, without the exclusions.
import { files } from "../../platform/files/files.ts";
import { type DependencyGraph, reachable, reverseGraph } from "./dependencies.ts";
import { parseSelector, type Selector, withoutRevision } from "./filter-syntax.ts";
import { isGlob } from "./glob.ts";
import { compileDirectoryMatch, compileMatch, findMatching, isWithin, resolveFrom } from "./member-match.ts";
import type { MemberPackage, Workspace } from "./members.ts";
import { type PackageJsonError, parentDirectory } from "./package-json.ts";
import { UserError } from "../user-error.ts";

export interface Selection {
  /** Positions in the workspace's members, ascending. */
  readonly indices: readonly number[];
  /** Filters without a match, although others have one. */
  readonly unmatched: readonly string[];
  /** Packages that may match the filters, but whose package.json or folder cannot be read. */
  readonly unreadable: readonly PackageJsonError[];
}

/** The members that have changed, by git revision. */
export type ChangedMembers = ReadonlyMap<string, Iterable<number>>;

/**
 * Selects members.
 * @param from base of relative paths
 * @param mayBeEmpty returns an empty selection instead of throwing
 * @param changed if omitted, the selection has all members that some changes would select
 * @throws UserError if no member is selected
 */
export function selectMembers(
  { members, broken }: Workspace,
  graph: DependencyGraph,
  filters: readonly string[],
  from: string,
  mayBeEmpty = false,
  changed?: ChangedMembers,
): Selection {
  const selectors = filters.map(parseSelector).flatMap((each) => (changed ? each : withoutRevision(each)));
  const dependents = reverseGraph(graph);
  const positive = selectors.filter(({ isExclusion }) => !isExclusion);
  const unmatched: string[] = [];
  const selected = new Set(positive.length === 0 ? allMembers(members) : []);
  for (const selector of positive) {
    const matched = apply(selector);
    if (matched.size === 0) unmatched.push(selector.source);
    for (const index of matched) selected.add(index);
  }
  for (const selector of selectors.filter(({ isExclusion }) => isExclusion)) {
    for (const index of apply(selector)) selected.delete(index);
  }
  const unreadable = broken.filter(
    (error) => existsOnDisk(error) && mayMatch(selectors, unmatched, error, from),
  );
  if (selected.size > 0) return { indices: [...selected].sort((a, b) => a - b), unmatched, unreadable };
  if (!mayBeEmpty && unreadable.length === 0) throw noMatchError(selectors, unmatched, members, from);
  return { indices: [], unmatched: [], unreadable };

  function apply(selector: Selector): Set<number> {
    const own = keepChanged(selector, findMatching(selector, from, members));
    if (selector.withSelf) return related(selector, own);
    // With ^, a match remains if it is related to another match.
    return new Set(own.flatMap((index) => [...related(selector, [index])].filter((each) => each !== index)));
  }

  function related({ withDependencies, withDependents }: Selector, own: readonly number[]): Set<number> {
    const result = withDependents ? reachable(dependents, own) : new Set(own);
    return withDependencies ? new Set([...result, ...reachable(graph, result)]) : result;
  }

  function keepChanged({ revision, hasChangedDependencies }: Selector, own: number[]): number[] {
    if (revision === "") return own;
    const since = changed?.get(revision) ?? [];
    const kept = hasChangedDependencies ? reachable(dependents, since) : new Set(since);
    return own.filter((index) => kept.has(index));
  }
}

/** Selects every member but the root. */
export function allMembers(members: readonly MemberPackage[]): number[] {
  return members.flatMap(({ isRoot }, index) => (isRoot ? [] : [index]));
}

/** Selects the members of `--workspaces`: all except the package in the root's directory. */
export function workspacePackages(members: readonly MemberPackage[]): number[] {
  return members.flatMap(({ path }, index) => (path === "." ? [] : [index]));
}

/** Returns whether the file exists. A listed package may be missing on purpose: a submodule, or a part of a container. */
export function existsOnDisk({ file }: PackageJsonError): boolean {
  return files.readFile(file, 0) !== "ENOENT";
}

/**
 * Returns whether the filters may match an unreadable package, whose name and dependencies are unknown. For a package in an
 * unlistable folder, the path is unknown too.
 */
function mayMatch(
  selectors: readonly Selector[],
  unmatched: readonly string[],
  { file, isFolder }: PackageJsonError,
  from: string,
): boolean {
  const directory = isFolder ? `${file}/*` : parentDirectory(file)!;
  const nameless: MemberPackage = { directory, path: "", name: "", manifest: {}, isRoot: false };
  const mayLeadInto = (path: string) => isFolder && (isGlob(path) || isWithin(resolveFrom(from, path), file));
  const isBelow = ({ directory }: Selector) =>
    directory === "" || compileDirectoryMatch(directory, from)(nameless) || mayLeadInto(directory);
  const isWanted = (selector: Selector): boolean => {
    const { source, name, path, withDependencies, withDependents } = selector;
    if (withDependencies || withDependents) return true;
    if (name === "")
      return (
        compileMatch(selector, from)(nameless) ||
        (unmatched.includes(source) && mayLeadInto(path || selector.directory))
      );
    return (isGlob(name) || unmatched.includes(source)) && isBelow(selector);
  };
  const positive = selectors.filter(({ isExclusion }) => !isExclusion);
  const isExcluded = selectors.some(
    (selector) =>
      selector.isExclusion &&
      selector.name === "" &&
      selector.withSelf &&
      compileMatch(selector, from)(nameless),
  );
  return !isExcluded && (positive.length === 0 || positive.some(isWanted));
}

function noMatchError(
  selectors: readonly Selector[],
  unmatched: readonly string[],
  members: readonly MemberPackage[],
  from: string,
): UserError {
  const sources = selectors.map(({ source }) => `"${source}"`);
  const label = sources.length === 1 ? `the filter ${sources[0]}` : `the filters ${sources.join(", ")}`;
  const hints = selectors.flatMap((selector) =>
    unmatched.includes(selector.source) ? hintFor(selector, members, from) : [],
  );
  return new UserError(
    unmatched.length > 0
      ? `No workspace packages matched ${label}`
      : `No workspace packages are left by ${label}`,
    hints.length === 0 ? undefined : [...new Set(hints)].join("; "),
  );
}

function hintFor({ name }: Selector, members: readonly MemberPackage[], from: string): string[] {
  if (members.some(({ path }) => path === name.replace(/\/$/, "")))
    return [`write a path with ./, as in ./${name}`];
  const names = members.map((member) => member.name).filter((each) => each !== "");
  const { suggestNames } = require("../did-you-mean.ts") as typeof import("../did-you-mean.ts");
  const suggestions = suggestNames(name, names).map((each) => `"${each}"`);
  if (suggestions.length > 0) return [`did you mean ${suggestions.join(" or ")}?`];
  const found = name === "" ? "ENOENT" : files.readFile(`${from}/${name}`, 1);
  if (typeof found === "string" && ["ENOENT", "ENOTDIR", "ENAMETOOLONG"].includes(found)) return [];
  return [
    `"${name}" is a file in this folder: quote a * ('*'), and write a folder as ./${name} or {${name}}`,
  ];
}
