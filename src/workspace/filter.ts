// Selects the members that `--filter` matches.
//
//   name globs    web   @acme/*   *-lib     `*` stops at `/`; `*` and `**` alone match every package
//   path globs    ./packages/*              relative to the current directory
//   directories   {packages}  {apps/*}      the package there and every one below
//   both          @acme/*{packages}         names within a directory
//   relatives     foo... (and dependencies)   ...foo (and dependents)   foo^... and ...^foo (without foo)
//   exclusions    !foo                      removed from the rest; alone: from all packages
//   changes       [main]  foo[HEAD^1]  {packages}[main]   changed since a git revision
//   of both       foo...[main]              foo, if it or a dependency has changed
//
// Invariants: filters are combined as a union. The root of a declared workspace matches only an exact name or path.
//
// Non-obvious: A [x] at the end of a name or {directory} is a revision, as in pnpm and turbo. At the end of a ./path it is a glob.
import { files } from "../../platform/files/files.ts";
import { type DependencyGraph, reachable, reverseGraph } from "./dependencies.ts";
import { isGlob } from "./glob.ts";
import type { MemberPackage, Workspace } from "./members.ts";
import { type PackageJsonError, parentDirectory } from "./package-json.ts";
import { UserError } from "../user-error.ts";

export interface Selector {
  readonly source: string;
  readonly isExclusion: boolean;
  /** Name or glob; "" matches any name. */
  readonly name: string;
  /** Path glob, or "". */
  readonly path: string;
  /** Directory whose packages match, or "". */
  readonly directory: string;
  /** Git revision since which the packages have changed, or "". */
  readonly revision: string;
  /** Whether a package also counts as changed if a dependency of it has changed. */
  readonly hasChangedDependencies: boolean;
  readonly withDependencies: boolean;
  readonly withDependents: boolean;
  /** False with `^`: dependencies or dependents without the package itself. */
  readonly withSelf: boolean;
}

export interface Selection {
  /** Positions in the workspace's members, ascending. */
  readonly indices: readonly number[];
  /** Filters without a match, although others have one. */
  readonly unmatched: readonly string[];
  /** Packages that may match the filters, but whose package.json or folder cannot be read. */
  readonly unreadable: readonly PackageJsonError[];
}

const SHAPE = /^(!?)(\.\.\.\^?)?(.*?)(\^?\.\.\.)?$/s;

const NAMED = {
  isExclusion: false,
  path: "",
  directory: "",
  revision: "",
  hasChangedDependencies: false,
  withDependencies: false,
  withDependents: false,
  withSelf: true,
} as const;

/** Groups: the text before the revision, the dots of `foo...[main]`, and the revision. */
const REVISION = /^(.*?)(\.\.\.)?\[([^[\]]*)\]$/s;

function isPathLike(core: string): boolean {
  return /^\.{0,2}\//.test(core) || core === "." || core === "..";
}

/** Returns the git revisions of the filters, without duplicates. @throws UserError */
export function revisionsOf(filters: readonly string[]): string[] {
  const found = filters.map((filter) => (filter.includes("[") ? parseSelector(filter).revision : ""));
  return [...new Set(found)].filter((revision) => revision !== "");
}

/** @throws UserError */
function parseSelector(source: string): Selector {
  if (isPlainName(source)) return { ...NAMED, source, name: source };
  const [, bang, before = "", body = "", after = ""] = SHAPE.exec(source) ?? [];
  const [, start, dots, revision] = (!isPathLike(body) && REVISION.exec(body)) || [];
  const core = start ?? body;
  const isPath = isPathLike(core);
  const braces = isPath ? null : /^(.*?)\{([^{},]+)\}$/s.exec(core);
  const [name, directory] = isPath ? ["", ""] : braces ? [braces[1] ?? "", braces[2] ?? ""] : [core, ""];
  if (revision === "" || (core === "" && (revision === undefined || dots !== undefined)))
    throw new UserError(
      `Filter "${source}" names no ${revision === "" ? "git revision" : "package"}`,
      "use a name, a ./path, a {directory} or a [git revision]",
    );
  return {
    source,
    isExclusion: bang === "!",
    name,
    path: isPath ? core : "",
    directory,
    revision: revision ?? "",
    hasChangedDependencies: dots !== undefined,
    withDependencies: after !== "",
    withDependents: before !== "",
    withSelf: !before.endsWith("^") && !after.startsWith("^"),
  };
}

/** Returns whether a filter is only a name or name glob, the common case. It uses no regular expression: see glob.ts. */
function isPlainName(source: string): boolean {
  return (
    source !== "" &&
    !"!./".includes(source[0]!) &&
    !source.includes("{") &&
    !source.includes("...") &&
    !source.endsWith("]")
  );
}

/** Returns selectors for what a selector could select, whichever members have changed. */
function withoutRevision(selector: Selector): Selector[] {
  if (selector.revision === "") return [selector];
  // The root of a workspace is selected only by its name.
  const name = selector.name === "" && selector.directory === "" ? "*" : selector.name;
  return selector.isExclusion ? [] : [{ ...selector, name, revision: "", withSelf: true }];
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
    const own = keepChanged(selector, matching(selector, from, members));
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
  const mayLeadInto = (path: string) => isFolder && (isGlob(path) || isWithin(resolve(from, path), file));
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

/** Loads node:path lazily: most selectors have a name, not a path. */
function resolve(from: string, path: string): string {
  return process.getBuiltinModule("node:path").resolve(from, path);
}

/** Returns matching positions. Plain names, the common case, are compared in a loop without a function call each. */
function matching(selector: Selector, from: string, members: readonly MemberPackage[]): number[] {
  const { name, path, directory } = selector;
  const matches: number[] = [];
  if (path === "" && directory === "" && name !== "" && !isGlob(name)) {
    for (let index = 0; index < members.length; index++)
      if (members[index]!.name === name) matches.push(index);
    return matches;
  }
  const isMatch = compileMatch(selector, from);
  for (let index = 0; index < members.length; index++) if (isMatch(members[index]!)) matches.push(index);
  return matches;
}

function compileMatch(
  { name, path, directory, revision }: Selector,
  from: string,
): (member: MemberPackage) => boolean {
  if (path !== "") return compilePathMatch(path, from);
  if (revision !== "" && name === "" && directory === "") return ({ isRoot }) => !isRoot;
  const isName = compileNameMatch(name);
  if (directory === "") return isName;
  const isInDirectory = compileDirectoryMatch(directory, from);
  return (member) => isInDirectory(member) && isName(member);
}

function compileNameMatch(name: string): (member: MemberPackage) => boolean {
  if (name === "") return () => true;
  if (name === "*" || name === "**") return ({ isRoot }) => !isRoot;
  if (!isGlob(name)) return (member) => member.name === name;
  const glob = new Bun.Glob(name);
  return (member) => member.name !== "" && !member.isRoot && glob.match(member.name);
}

function compilePathMatch(path: string, from: string): (member: MemberPackage) => boolean {
  if (!isGlob(path)) {
    const target = resolve(from, path);
    return ({ directory }) => directory === target;
  }
  const glob = compileGlob(path, from);
  return ({ isRoot, directory }) => !isRoot && glob.match(directory);
}

function compileDirectoryMatch(path: string, from: string): (member: MemberPackage) => boolean {
  if (!isGlob(path)) {
    const parent = resolve(from, path);
    return ({ directory }) => isWithin(directory, parent);
  }
  const glob = compileGlob(path, from);
  return ({ isRoot, directory }) => {
    if (isRoot) return false;
    for (let at: string | null = directory; at !== null; at = parentDirectory(at))
      if (glob.match(at)) return true;
    return false;
  };
}

/** Escapes the glob characters of the current directory. */
function compileGlob(path: string, from: string): InstanceType<typeof Bun.Glob> {
  return new Bun.Glob(resolve(from.replace(/[*?[\]{}!]/g, "\\$&"), path));
}

function isWithin(directory: string, parent: string): boolean {
  return directory === parent || directory.startsWith(parent.endsWith("/") ? parent : `${parent}/`);
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
