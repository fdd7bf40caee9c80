// Selects the members that `--filter` matches.
//
//   name globs    web   @acme/*   *-lib     `*` stops at `/`; `*` and `**` alone match every package
//   path globs    ./packages/*              relative to the current directory
//   directories   {packages}  {apps/*}      the package there and every one below
//   both          @acme/*{packages}         names within a directory
//   relatives     foo... (and dependencies)   ...foo (and dependents)   foo^... and ...^foo (without foo)
//   exclusions    !foo                      removed from the rest; alone: from all packages
//
// Invariants: filters are combined as a union. The root of a declared workspace matches only an exact name or path.
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
  withDependencies: false,
  withDependents: false,
  withSelf: true,
} as const;

/** @throws UserError */
function parseSelector(source: string): Selector {
  if (isPlainName(source)) return { ...NAMED, source, name: source };
  const [, bang, before = "", core = "", after = ""] = SHAPE.exec(source) ?? [];
  const isPath = /^\.{0,2}\//.test(core) || core === "." || core === "..";
  const braces = isPath ? null : /^(.*?)\{([^{},]+)\}$/s.exec(core);
  const [name, directory] = isPath ? ["", ""] : braces ? [braces[1] ?? "", braces[2] ?? ""] : [core, ""];
  if (core === "")
    throw new UserError(`Filter "${source}" names no package`, "use a name, a ./path or a {directory}");
  return {
    source,
    isExclusion: bang === "!",
    name,
    path: isPath ? core : "",
    directory,
    withDependencies: after !== "",
    withDependents: before !== "",
    withSelf: !before.endsWith("^") && !after.startsWith("^"),
  };
}

/** Returns whether a filter is only a name or name glob, the common case. It uses no regular expression: see glob.ts. */
function isPlainName(source: string): boolean {
  return source !== "" && !"!./".includes(source[0]!) && !source.includes("{") && !source.includes("...");
}

/**
 * Selects members.
 * @param from base of relative paths
 * @param mayBeEmpty returns an empty selection instead of throwing
 * @throws UserError if no member is selected
 */
export function selectMembers(
  { members, broken }: Workspace,
  graph: DependencyGraph,
  filters: readonly string[],
  from: string,
  mayBeEmpty = false,
): Selection {
  const selectors = filters.map(parseSelector);
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
    const own = matching(selector, from, members);
    const result = new Set<number>();
    if (selector.withSelf) for (const index of own) result.add(index);
    const start =
      selector.withDependencies && selector.withDependents ? reachable(dependents, own) : new Set(own);
    if (selector.withDependents) addOthers(reachable(dependents, own), own, result);
    if (selector.withDependencies) addOthers(reachable(graph, start), own, result);
    return result;
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

function addOthers(matches: Iterable<number>, own: readonly number[], result: Set<number>): void {
  const excluded = new Set(own);
  for (const index of matches) if (!excluded.has(index)) result.add(index);
}

/** Loads node:path lazily: most selectors have a name, not a path. */
function resolve(from: string, path: string): string {
  return process.getBuiltinModule("node:path").resolve(from, path);
}

/** Returns matching positions. Plain names, the common case, are compared in a loop without a function call each. */
function matching(selector: Selector, from: string, members: readonly MemberPackage[]): number[] {
  const { name, path, directory } = selector;
  const matches: number[] = [];
  if (path === "" && directory === "" && !isGlob(name)) {
    for (let index = 0; index < members.length; index++)
      if (members[index]!.name === name) matches.push(index);
    return matches;
  }
  const isMatch = compileMatch(selector, from);
  for (let index = 0; index < members.length; index++) if (isMatch(members[index]!)) matches.push(index);
  return matches;
}

function compileMatch({ name, path, directory }: Selector, from: string): (member: MemberPackage) => boolean {
  if (path !== "") return compilePathMatch(path, from);
  const isName = compileNameMatch(name);
  if (directory === "") return isName;
  const existsOnDisk = compileDirectoryMatch(directory, from);
  return (member) => existsOnDisk(member) && isName(member);
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

const COMMIT = /^\[(.+)\]$/;

function hintFor({ name }: Selector, members: readonly MemberPackage[], from: string): string[] {
  const [, commit] = COMMIT.exec(name) ?? [];
  if (commit !== undefined) return [`to select packages changed since a commit, use --affected=${commit}`];
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
