// The path patterns by which a workspace names its members: `packages/*`, `apps/**`, `{a,b}/*`, `../shared`,
// `!packages/old`. Walks no further than a pattern asks for, never into node_modules.
//
// Surprising: `**` does not follow symbolic links (they may lead back up), `*` does.
import { directories } from "../../platform/directories.ts";
import type { Listing } from "../../platform/contract/directories.ts";
import { isGlob } from "./glob.ts";
import { parentDirectory } from "./package-json.ts";

export interface MemberPattern {
  readonly source: string;
  readonly isNegated: boolean;
  /** Names one directory, which must then be there. */
  readonly isLiteral: boolean;
  readonly segments: readonly (readonly string[])[];
  /** Whether a path from the root, with forward slashes, is meant. */
  matches(path: string): boolean;
}

export function compilePattern(text: string): MemberPattern {
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

/** The directories that a pattern names, real paths, whether or not they hold a package. */
export function expandPattern(root: string, { segments }: MemberPattern): string[] {
  const found: string[] = [];
  for (const alternative of segments) walk(root, alternative, 0, found);
  return found;
}

function walk(directory: string, segments: readonly string[], at: number, found: string[]): void {
  const segment = segments[at];
  if (segment === undefined) {
    found.push(directory);
  } else if (segment === "**") {
    walk(directory, segments, at + 1, found);
    const start = startOf(directory);
    for (const name of entered(list(directory).directories)) walk(start + name, segments, at, found);
  } else if (segment === "..") {
    walk(parentDirectory(directory) ?? directory, segments, at + 1, found);
  } else {
    const names = select(list(directory), segment);
    const start = startOf(directory);
    const isLast = at + 1 === segments.length;
    for (const name of names.directories) {
      if (isLast) found.push(start + name);
      else walk(start + name, segments, at + 1, found);
    }
    for (const name of names.links) {
      const target = directories.resolveDirectory(start + name);
      if (target !== null) walk(target, segments, at + 1, found);
    }
  }
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

function list(directory: string): Listing {
  return directories.listDirectory(directory) ?? NOTHING;
}

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
