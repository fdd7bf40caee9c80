// Which members `--filter` means.
//
//   name globs    web   @acme/*   *-lib     `*` stops at `/`; `*` and `**` alone mean every package
//   path globs    ./packages/*              relative to the current directory
//   directories   {packages}  {apps/*}      the package there and every one below
//   both          @acme/*{packages}         names within a directory
//   relatives     foo... (and what it needs)  ...foo (and what needs it)  foo^... and ...^foo (without foo)
//   exclusions    !foo                      taken away from the rest; alone: from all packages
//
// Contract: several filters add up. The root of a declared workspace is only meant when its name or path is
// given exactly. Parsing and selecting are pure: members in, positions out.
import { files } from "../../platform/files/files.ts";
import { type DependencyGraph, reachable, reverseGraph } from "./dependencies.ts";
import { isGlob } from "./glob.ts";
import type { MemberPackage, Workspace } from "./members.ts";
import { type PackageJsonError, parentDirectory } from "./package-json.ts";
import { UserError } from "../user-error.ts";

export interface Selector {
  readonly source: string;
  readonly isExclusion: boolean;
  /** "" when any name is meant. */
  readonly name: string;
  /** A path glob, or "". */
  readonly path: string;
  /** A directory whose packages are meant, or "". */
  readonly directory: string;
  readonly withDependencies: boolean;
  readonly withDependents: boolean;
  /** False after `^`: the relatives without the package. */
  readonly withSelf: boolean;
}

export interface Selection {
  /** Positions in the workspace's members, ascending. */
  readonly indices: readonly number[];
  /** Filters that matched nothing although others did. */
  readonly unmatched: readonly string[];
  /** Packages that the filters may mean, whose package.json, or whose folder, is there and cannot be read. */
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

/** Throws Failure. */
function parseSelector(source: string): Selector {
  if (isPlainName(source)) return { ...NAMED, source, name: source };
  const [, bang, before = "", core = "", after = ""] = SHAPE.exec(source) ?? [];
  const isPath = /^\.{0,2}\//.test(core) || core === "." || core === "..";
  const braces = isPath ? null : /^(.*?)\{([^{},]+)\}$/s.exec(core);
  const [name, directory] = isPath ? ["", ""] : braces ? [braces[1] ?? "", braces[2] ?? ""] : [core, ""];
  if (core === "")
    throw new UserError(`Filter "${source}" names no package`, "give a name, a ./path or a {directory}");
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

/** A name or a glob of names and nothing else, as most are: without regular expressions, see glob.ts. */
function isPlainName(source: string): boolean {
  return source !== "" && !"!./".includes(source[0]!) && !source.includes("{") && !source.includes("...");
}

/** `from` is what relative paths start at. Throws Failure when nothing is left, unless it may be so. */
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
  const unreadable = broken.filter((error) => isThere(error) && mayMean(selectors, unmatched, error, from));
  if (selected.size > 0) return { indices: [...selected].sort((a, b) => a - b), unmatched, unreadable };
  if (!mayBeEmpty && unreadable.length === 0) throw nothingMatched(selectors, unmatched, members, from);
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

/** Selects what `--workspaces` means: every member but the package of the root's directory. */
export function workspacePackages(members: readonly MemberPackage[]): number[] {
  return members.flatMap(({ path }, index) => (path === "." ? [] : [index]));
}

/** A package that is listed and not there may have been left out on purpose: a submodule, a part of a container. */
export function isThere({ file }: PackageJsonError): boolean {
  return files.readFile(file, 0) !== "ENOENT";
}

/**
 * Whether a package that cannot be read, so that nobody knows its name and what it needs, may be asked for; or one of those
 * in a folder that cannot be listed, of which not even the paths are known.
 */
function mayMean(
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

function addOthers(found: Iterable<number>, own: readonly number[], result: Set<number>): void {
  const excluded = new Set(own);
  for (const index of found) if (!excluded.has(index)) result.add(index);
}

/** Loaded where a selector has a path: most have a name. */
function resolve(from: string, path: string): string {
  return process.getBuiltinModule("node:path").resolve(from, path);
}

/** Positions. Most selectors are a plain name, and a function that is called a thousand times takes its time. */
function matching(selector: Selector, from: string, members: readonly MemberPackage[]): number[] {
  const { name, path, directory } = selector;
  const found: number[] = [];
  if (path === "" && directory === "" && !isGlob(name)) {
    for (let index = 0; index < members.length; index++) if (members[index]!.name === name) found.push(index);
    return found;
  }
  const isMeant = compileMatch(selector, from);
  for (let index = 0; index < members.length; index++) if (isMeant(members[index]!)) found.push(index);
  return found;
}

function compileMatch({ name, path, directory }: Selector, from: string): (member: MemberPackage) => boolean {
  if (path !== "") return compilePathMatch(path, from);
  const isName = compileNameMatch(name);
  if (directory === "") return isName;
  const isThere = compileDirectoryMatch(directory, from);
  return (member) => isThere(member) && isName(member);
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
    const wanted = resolve(from, path);
    return ({ directory }) => directory === wanted;
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

/** The place we stand in is a plain path, whatever characters it has. */
function compileGlob(path: string, from: string): InstanceType<typeof Bun.Glob> {
  return new Bun.Glob(resolve(from.replace(/[*?[\]{}!]/g, "\\$&"), path));
}

function isWithin(directory: string, parent: string): boolean {
  return directory === parent || directory.startsWith(parent.endsWith("/") ? parent : `${parent}/`);
}

function nothingMatched(
  selectors: readonly Selector[],
  unmatched: readonly string[],
  members: readonly MemberPackage[],
  from: string,
): UserError {
  const sources = selectors.map(({ source }) => `"${source}"`);
  const label = sources.length === 1 ? `the filter ${sources[0]}` : `the filters ${sources.join(", ")}`;
  const hints = selectors.flatMap((selector) =>
    unmatched.includes(selector.source) ? hintAt(selector, members, from) : [],
  );
  return new UserError(
    unmatched.length > 0
      ? `No workspace packages matched ${label}`
      : `No workspace packages are left by ${label}`,
    hints.length === 0 ? undefined : [...new Set(hints)].join("; "),
  );
}

const COMMIT = /^\[(.+)\]$/;

function hintAt({ name }: Selector, members: readonly MemberPackage[], from: string): string[] {
  const [, commit] = COMMIT.exec(name) ?? [];
  if (commit !== undefined) return [`packages changed since a commit are meant by --affected=${commit}`];
  if (members.some(({ path }) => path === name.replace(/\/$/, "")))
    return [`a path begins with ./, as in ./${name}`];
  const names = members.map((member) => member.name).filter((each) => each !== "");
  const { suggestNames } = require("../did-you-mean.ts") as typeof import("../did-you-mean.ts");
  const suggestions = suggestNames(name, names).map((each) => `"${each}"`);
  if (suggestions.length > 0) return [`did you mean ${suggestions.join(" or ")}?`];
  const found = name === "" ? "ENOENT" : files.readFile(`${from}/${name}`, 1);
  if (typeof found === "string" && ["ENOENT", "ENOTDIR", "ENAMETOOLONG"].includes(found)) return [];
  return [
    `"${name}" is a name in this folder: a * needs quotes ('*'), a folder is written ./${name} or {${name}}`,
  ];
}
