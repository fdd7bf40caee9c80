// Expands the globs of `workspaces`, the path patterns of a workspace's members: `packages/*`, `apps/**`, `{a,b}/*`, `../shared`,
// `!packages/old`. Never enters node_modules.
//
// Invariants:
// - The cost of hostile patterns is bounded: alternatives are counted before braces are expanded, and the search has a budget.
// - A directory is listed once, and visited once for each pattern segment (by real path), so symbolic link cycles and repeated
//   `**` terminate.
//
// Non-obvious: `**` does not follow symbolic links, which may lead to a parent; `*` does.
import { directories } from "../../platform/files/directories.ts";
import { files } from "../../platform/files/files.ts";
import type { Listing } from "../../platform/files/contract/directories.ts";
import { UserError } from "../user-error.ts";
import { printable } from "../printable.ts";
import { isGlob } from "./glob.ts";
import { isUndecodable, parentDirectory } from "./package-json.ts";

/** Characters of a pattern. */
const MAX_PATTERN_LENGTH = 10_000;
/** Alternatives of one pattern, and of all patterns together. */
const MAX_ALTERNATIVES = 1000;
const MAX_PATTERNS = 10_000;
/** Characters of a pattern in a message. */
const MAX_SHOWN_LENGTH = 60;
/** Half a million visited directories, or 2.5 million comparisons with negated patterns. */
const SEARCH_BUDGET = 10_000_000;
const VISIT_COST = 20;
const COMPARISON_COST = 4;

export interface MemberPattern {
  readonly source: string;
  readonly isNegated: boolean;
  /** Names one directory, which has to exist. */
  readonly isLiteral: boolean;
  readonly segments: readonly (readonly string[])[];
  /** Returns whether a path matches: relative to the root, with forward slashes. */
  matches(path: string): boolean;
}

/** Compiles patterns. @param where description of the declaration for messages; "" without one @throws UserError */
export function compilePatterns(texts: readonly string[], where: string): MemberPattern[] {
  const patterns: MemberPattern[] = [];
  let total = 0;
  for (const text of new Set(texts)) {
    const count = text.length > MAX_PATTERN_LENGTH ? Number.POSITIVE_INFINITY : countAlternatives(text);
    if (count > MAX_ALTERNATIVES) {
      const problem =
        text.length > MAX_PATTERN_LENGTH
          ? `is longer than ${MAX_PATTERN_LENGTH} characters`
          : `stands for more than ${MAX_ALTERNATIVES} paths`;
      throw new UserError(`The pattern ${describe(text, where)} ${problem}`, HINT);
    }
    total += count;
    if (total > MAX_PATTERNS)
      throw new UserError(`Too many patterns in ${where} (more than ${MAX_PATTERNS})`, HINT);
    patterns.push(compilePattern(text));
  }
  return patterns;
}

const HINT = 'name the folders that hold the packages, as in "packages/*"';

function describe(pattern: string, where: string): string {
  const shown = pattern.length > MAX_SHOWN_LENGTH ? `${pattern.slice(0, MAX_SHOWN_LENGTH)}...` : pattern;
  return `"${printable(shown)}" in ${where}`;
}

function compilePattern(text: string): MemberPattern {
  const isNegated = text.startsWith("!");
  let source = isNegated ? text.slice(1) : text;
  if (source.startsWith("./")) source = source.slice(2);
  while (source.endsWith("/")) source = source.slice(0, -1);
  source ||= ".";
  const alternatives = expandBraces(source);
  let globs: InstanceType<typeof Bun.Glob>[] | undefined;
  return {
    source,
    isNegated,
    isLiteral: !isGlob(source),
    segments: alternatives.map((alternative) =>
      alternative.split("/").filter((segment) => segment !== "" && segment !== "."),
    ),
    matches(path) {
      globs ??= alternatives.map((alternative) => new Bun.Glob(alternative));
      return globs.some((glob) => glob.match(path));
    },
  };
}

export interface Search {
  /** Returns the real paths of directories that match, with or without a package. @throws UserError over the budget */
  expand(pattern: MemberPattern): string[];
  /** Returns whether a path matches one of the patterns. @throws UserError over the budget */
  isMatched(patterns: readonly MemberPattern[], path: string): boolean;
  /** Existing directories that could not be listed, with the system's error code. */
  readonly unlistable: ReadonlyMap<string, string>;
}

/** Creates a search. Its patterns share the directory listings and the budget. */
export function openSearch(root: string, where: string): Search {
  const listings = new Map<string, Listing>();
  const unlistable = new Map<string, string>();
  let budget = SEARCH_BUDGET;

  function spend(amount: number, { source }: MemberPattern): void {
    budget -= amount;
    if (budget >= 0) return;
    if (where === "") {
      const problem = `Too many folders below ${printable(root)} to search for packages`;
      throw new UserError(
        problem,
        'run rt in a project, or list its packages as "workspaces" in package.json',
      );
    }
    throw new UserError(`The pattern ${describe(source, where)} searches too many folders`, HINT);
  }

  function list(directory: string): Listing {
    let listing = listings.get(directory);
    if (!listing) {
      listing = directories.listDirectory(directory) ?? recordUnlistable(directory);
      listings.set(directory, listing);
    }
    return listing;
  }

  function recordUnlistable(directory: string): Listing {
    const code = files.readFile(directory, 0); // fails with the same code as the listing
    const isUnlistable = code === "ENOENT" ? isUndecodable(directory) : code !== "ENOTDIR";
    if (typeof code === "string" && isUnlistable) unlistable.set(directory, code);
    return EMPTY_LISTING;
  }

  function walk(pattern: MemberPattern, segments: readonly string[], matches: string[]): void {
    const visited = segments.map(() => new Set<string>());
    visit(root, 0);

    function visit(directory: string, at: number): void {
      const segment = segments[at];
      if (segment === undefined) {
        matches.push(directory);
        return;
      }
      if (visited[at]!.has(directory)) return;
      visited[at]!.add(directory);
      spend(VISIT_COST, pattern);
      if (segment === "**") {
        visit(directory, at + 1);
        const start = startOf(directory);
        for (const name of searchable(list(directory).directories)) visit(start + name, at);
      } else if (segment === "..") {
        visit(parentDirectory(directory) ?? directory, at + 1);
      } else {
        const names = select(list(directory), segment);
        const start = startOf(directory);
        const isLast = at + 1 === segments.length;
        for (const name of names.directories) {
          if (isLast) matches.push(start + name);
          else visit(start + name, at + 1);
        }
        for (const name of names.links) {
          spend(VISIT_COST, pattern);
          const target = directories.resolveDirectory(start + name);
          if (target !== null) visit(target, at + 1);
        }
      }
    }
  }

  return {
    expand(pattern) {
      const matches: string[] = [];
      for (const alternative of pattern.segments) walk(pattern, alternative, matches);
      return matches;
    },
    isMatched: (patterns, path) =>
      patterns.some((pattern) => {
        spend(pattern.segments.length * COMPARISON_COST, pattern);
        return pattern.matches(path);
      }),
    unlistable,
  };
}

/** Returns the entries that match a segment. */
function select(listing: Listing, segment: string): Listing {
  if (!isGlob(segment)) return filter(listing, (name) => name === segment);
  const candidates = { directories: searchable(listing.directories), links: searchable(listing.links) };
  if (segment === "*") return candidates;
  const glob = new Bun.Glob(segment);
  return filter(candidates, (name) => glob.match(name));
}

function filter({ directories, links }: Listing, isMatch: (name: string) => boolean): Listing {
  return { directories: directories.filter(isMatch), links: links.filter(isMatch) };
}

const EMPTY_LISTING: Listing = { directories: [], links: [] };

/** Returns the path prefix of a directory's entries. */
export function startOf(directory: string): string {
  const { separator } = directories;
  return directory.endsWith(separator) ? directory : directory + separator;
}

/** Removes node_modules and hidden directories: these match only by their exact name. */
function searchable(names: readonly string[]): string[] {
  const matches: string[] = [];
  for (const name of names) if (name[0] !== "." && name !== "node_modules") matches.push(name);
  return matches;
}

/** Returns the number of patterns that `expandBraces` would create, without creating them. */
function countAlternatives(pattern: string): number {
  const open: number[] = [];
  for (let at = 0; at < pattern.length; at++) {
    if (pattern[at] === "{") open.push(at);
    else if (pattern[at] === "}") open.pop();
  }
  const end = open[0] ?? pattern.length; // the text after an unclosed brace is literal
  let [sum, product] = [0, 1];
  const outer: (readonly [sum: number, product: number])[] = [];
  for (let at = 0; at < end; at++) {
    const character = pattern[at];
    if (character === "{") {
      outer.push([sum, product]);
      [sum, product] = [0, 1];
    } else if (outer.length > 0 && character === ",") {
      [sum, product] = [sum + product, 1];
    } else if (outer.length > 0 && character === "}") {
      const [sumAround, productAround] = outer.pop()!;
      [sum, product] = [sumAround, productAround * (sum + product)];
    }
  }
  return product;
}

/** Expands `a/{b,c/d}` to `a/b` and `a/c/d`, so that each is searched segment by segment. */
export function expandBraces(pattern: string): string[] {
  const open = pattern.indexOf("{");
  if (open < 0) return [pattern];
  let depth = 0;
  const commas: number[] = [];
  for (let at = open; at < pattern.length; at++) {
    const character = pattern[at];
    if (character === "{") depth++;
    else if (character === "," && depth === 1) commas.push(at);
    else if (character === "}" && --depth === 0) {
      const bounds = [open, ...commas, at];
      const [head, tail] = [pattern.slice(0, open), pattern.slice(at + 1)];
      return bounds
        .slice(1)
        .flatMap((end, index) => expandBraces(head + pattern.slice(bounds[index]! + 1, end) + tail));
    }
  }
  return [pattern]; // an unclosed brace is literal
}
