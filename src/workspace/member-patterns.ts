// The path patterns by which a workspace names its members: `packages/*`, `apps/**`, `{a,b}/*`, `../shared`,
// `!packages/old`. Walks no further than a pattern asks for, never into node_modules.
//
// Contract: what a pattern costs is bounded, since it comes from a project that somebody else may have written. Braces
// are counted before they are written out; a directory is listed once and, real paths being compared, seen once for
// each part of a pattern, so that links that lead back and repeated `**` end; the whole search has an allowance.
//
// Surprising: `**` does not follow symbolic links (they may lead back up), `*` does.
import { directories } from "../../platform/files/directories.ts";
import { files } from "../../platform/files/files.ts";
import type { Listing } from "../../platform/files/contract/directories.ts";
import { UserError } from "../user-error.ts";
import { printable } from "../printable.ts";
import { isGlob } from "./glob.ts";
import { isLost, parentDirectory } from "./package-json.ts";

/** Characters of a pattern. */
const LONGEST_PATTERN = 10_000;
/** What the braces of one pattern may stand for, and what all patterns together may. */
const MOST_ALTERNATIVES = 1000;
const MOST_PATTERNS = 10_000;
/** Characters of a pattern in a message. */
const LONGEST_SHOWN = 60;
/** A search may visit half a million directories, or compare a path with negated patterns 2.5 million times. */
const ALLOWANCE = 10_000_000;
const VISIT = 20;
const COMPARISON = 4;

export interface MemberPattern {
  readonly source: string;
  readonly isNegated: boolean;
  /** Names one directory, which must then be there. */
  readonly isLiteral: boolean;
  readonly segments: readonly (readonly string[])[];
  /** Whether a path from the root, with forward slashes, is meant. */
  matches(path: string): boolean;
}

/** Throws Failure, which names the pattern. @param where the declaration is, for messages; "" without one */
export function compilePatterns(texts: readonly string[], where: string): MemberPattern[] {
  const patterns: MemberPattern[] = [];
  let total = 0;
  for (const text of new Set(texts)) {
    const count = text.length > LONGEST_PATTERN ? Number.POSITIVE_INFINITY : countAlternatives(text);
    if (count > MOST_ALTERNATIVES) {
      const problem =
        text.length > LONGEST_PATTERN
          ? `is longer than ${LONGEST_PATTERN} characters`
          : `stands for more than ${MOST_ALTERNATIVES} paths`;
      throw new UserError(`The pattern ${describe(text, where)} ${problem}`, HINT);
    }
    total += count;
    if (total > MOST_PATTERNS)
      throw new UserError(`There are more than ${MOST_PATTERNS} patterns in ${where}`, HINT);
    patterns.push(compilePattern(text));
  }
  return patterns;
}

const HINT = 'name the folders that hold the packages, as in "packages/*"';

function describe(pattern: string, where: string): string {
  const shown = pattern.length > LONGEST_SHOWN ? `${pattern.slice(0, LONGEST_SHOWN)}...` : pattern;
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
  /** The directories that a pattern names, real paths, whether or not they hold a package. Throws Failure. */
  expand(pattern: MemberPattern): string[];
  /** Whether a path is meant by one of them. Throws Failure. */
  isMatched(patterns: readonly MemberPattern[], path: string): boolean;
  /** Directories that could not be listed though they are there, each with the system's error code. */
  readonly unlistable: ReadonlyMap<string, string>;
}

/** One search for members, whose patterns share what has been listed and what may be looked at. */
export function openSearch(root: string, where: string): Search {
  const listings = new Map<string, Listing>();
  const unlistable = new Map<string, string>();
  let left = ALLOWANCE;

  function spend(amount: number, { source }: MemberPattern): void {
    left -= amount;
    if (left >= 0) return;
    if (where === "") {
      const problem = `There are too many folders below ${printable(root)} to look for packages`;
      throw new UserError(
        problem,
        'start rt in a project, or list its packages as "workspaces" in package.json',
      );
    }
    throw new UserError(`The pattern ${describe(source, where)} leads through too many folders`, HINT);
  }

  function list(directory: string): Listing {
    let listing = listings.get(directory);
    if (!listing) {
      listing = directories.listDirectory(directory) ?? explainNothing(directory);
      listings.set(directory, listing);
    }
    return listing;
  }

  function explainNothing(directory: string): Listing {
    const code = files.readFile(directory, 0); // opens it as a listing does
    const isWorthTelling = code === "ENOENT" ? isLost(directory) : code !== "ENOTDIR";
    if (typeof code === "string" && isWorthTelling) unlistable.set(directory, code);
    return NOTHING;
  }

  function walk(pattern: MemberPattern, segments: readonly string[], found: string[]): void {
    const seen = segments.map(() => new Set<string>());
    visit(root, 0);

    function visit(directory: string, at: number): void {
      const segment = segments[at];
      if (segment === undefined) {
        found.push(directory);
        return;
      }
      if (seen[at]!.has(directory)) return;
      seen[at]!.add(directory);
      spend(VISIT, pattern);
      if (segment === "**") {
        visit(directory, at + 1);
        const start = startOf(directory);
        for (const name of entered(list(directory).directories)) visit(start + name, at);
      } else if (segment === "..") {
        visit(parentDirectory(directory) ?? directory, at + 1);
      } else {
        const names = select(list(directory), segment);
        const start = startOf(directory);
        const isLast = at + 1 === segments.length;
        for (const name of names.directories) {
          if (isLast) found.push(start + name);
          else visit(start + name, at + 1);
        }
        for (const name of names.links) {
          spend(VISIT, pattern);
          const target = directories.resolveDirectory(start + name);
          if (target !== null) visit(target, at + 1);
        }
      }
    }
  }

  return {
    expand(pattern) {
      const found: string[] = [];
      for (const alternative of pattern.segments) walk(pattern, alternative, found);
      return found;
    },
    isMatched: (patterns, path) =>
      patterns.some((pattern) => {
        spend(pattern.segments.length * COMPARISON, pattern);
        return pattern.matches(path);
      }),
    unlistable,
  };
}

/** The entries that a segment means. */
function select(listing: Listing, segment: string): Listing {
  if (!isGlob(segment)) return filter(listing, (name) => name === segment);
  const candidates = { directories: entered(listing.directories), links: entered(listing.links) };
  if (segment === "*") return candidates;
  const glob = new Bun.Glob(segment);
  return filter(candidates, (name) => glob.match(name));
}

function filter({ directories, links }: Listing, isMeant: (name: string) => boolean): Listing {
  return { directories: directories.filter(isMeant), links: links.filter(isMeant) };
}

const NOTHING: Listing = { directories: [], links: [] };

/** What the names of its entries follow, in their paths. */
export function startOf(directory: string): string {
  const { separator } = directories;
  return directory.endsWith(separator) ? directory : directory + separator;
}

/** Without hidden directories, which are packages only when a pattern spells their name, and installed ones. */
function entered(names: readonly string[]): string[] {
  const found: string[] = [];
  for (const name of names) if (name[0] !== "." && name !== "node_modules") found.push(name);
  return found;
}

/** How many patterns `expandBraces` would make: known before it makes them. */
function countAlternatives(pattern: string): number {
  const open: number[] = [];
  for (let at = 0; at < pattern.length; at++) {
    if (pattern[at] === "{") open.push(at);
    else if (pattern[at] === "}") open.pop();
  }
  const end = open[0] ?? pattern.length; // from one that is never closed all is taken as it stands
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

/** `a/{b,c/d}` as `a/b` and `a/c/d`, so that each can be walked segment by segment. */
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
  return [pattern]; // never closed: taken as it stands
}
