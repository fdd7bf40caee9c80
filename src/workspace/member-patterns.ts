// The path patterns by which a workspace names its members: `packages/*`, `apps/**`, `{a,b}/*`, `../shared`,
// `!packages/old`. Walks no further than a pattern asks for, never into node_modules.
//
// Surprising: `**` does not follow symbolic links (they may lead back up), `*` does.
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

export interface DirectoryEntry {
  readonly name: string;
  /** Where it is: the target, for a symbolic link. */
  readonly path: string;
  readonly isLink: boolean;
}

const MAGIC = /[*?[\]{}]/;
const NEVER_ENTERED = new Set(["node_modules"]);

export function compilePattern(text: string): MemberPattern {
  const isNegated = text.startsWith("!");
  const source = (isNegated ? text.slice(1) : text).replace(/^\.\//, "").replace(/\/+$/, "") || ".";
  const alternatives = expandBraces(source);
  let globs: InstanceType<typeof Bun.Glob>[] | undefined;
  return {
    source,
    isNegated,
    isLiteral: !MAGIC.test(source),
    segments: alternatives.map((alternative) =>
      alternative.split("/").filter((segment) => segment !== "" && segment !== "."),
    ),
    matches(path) {
      globs ??= alternatives.map((alternative) => new Bun.Glob(alternative));
      return globs.some((glob) => glob.match(path));
    },
  };
}

/** The directories that a pattern names, whether or not they hold a package. */
export function expandPattern(root: string, { segments }: MemberPattern, list: ListDirectory): string[] {
  const found: string[] = [];
  for (const alternative of segments) walk(root, alternative, 0, list, found);
  return found;
}

export type ListDirectory = (directory: string) => DirectoryEntry[];

function walk(
  directory: string,
  segments: readonly string[],
  at: number,
  list: ListDirectory,
  found: string[],
): void {
  const segment = segments[at];
  if (segment === undefined) {
    found.push(directory);
  } else if (segment === "**") {
    walk(directory, segments, at + 1, list, found);
    for (const entry of list(directory)) {
      if (!entry.isLink && isEntered(entry.name)) walk(entry.path, segments, at, list, found);
    }
  } else if (segment === "..") {
    walk(parentDirectory(directory) ?? directory, segments, at + 1, list, found);
  } else if (MAGIC.test(segment)) {
    const glob = segment === "*" ? null : new Bun.Glob(segment);
    for (const entry of list(directory)) {
      if (!isEntered(entry.name) || !(glob?.match(entry.name) ?? true)) continue;
      if (at + 1 === segments.length) found.push(entry.path);
      else walk(entry.path, segments, at + 1, list, found);
    }
  } else {
    const entry = list(directory).find(({ name }) => name === segment);
    if (entry) walk(entry.path, segments, at + 1, list, found);
  }
}

/** Hidden directories are packages only when a pattern spells their name. */
function isEntered(name: string): boolean {
  return name[0] !== "." && !NEVER_ENTERED.has(name);
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
