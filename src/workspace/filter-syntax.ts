// Parses the values of `--filter`.
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
// Non-obvious: A [x] at the end of a name or {directory} is a revision, as in pnpm and turbo. At the end of a ./path it is a glob.
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
  readonly hasChangedDependencies: boolean;
  readonly withDependencies: boolean;
  readonly withDependents: boolean;
  /** False with `^`: dependencies or dependents without the package itself. */
  readonly withSelf: boolean;
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
export function parseSelector(source: string): Selector {
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
export function withoutRevision(selector: Selector): Selector[] {
  if (selector.revision === "") return [selector];
  // The root of a workspace is selected only by its name.
  const name = selector.name === "" && selector.directory === "" ? "*" : selector.name;
  return selector.isExclusion ? [] : [{ ...selector, name, revision: "", withSelf: true }];
}
