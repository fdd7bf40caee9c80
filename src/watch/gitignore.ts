// Parses .gitignore files and matches paths.
//
// Invariants (gitignore(5)): the last matching pattern decides. `!` negates. A pattern with an inner slash is anchored to its
// file's directory. A trailing slash matches directories only. An ignored directory is not entered, so nothing below it can be
// included again.
import { files } from "../../platform/files/files.ts";
import { oneLine } from "../printable.ts";

interface IgnoreRule {
  readonly glob: Bun.Glob;
  readonly isNegated: boolean;
  readonly isForDirectories: boolean;
}

export interface IgnoreFile {
  /** Ends with a slash. */
  readonly base: string;
  readonly rules: readonly IgnoreRule[];
}

/** The rules of a directory's own .gitignore, in order; undefined if it has none. */
export function readIgnoreFile(directory: string): IgnoreFile | undefined {
  const content = files.readFile(`${directory}/.gitignore`);
  if (typeof content === "string") return undefined;
  return parseIgnoreLines(new TextDecoder().decode(content).split(/\r?\n/), directory);
}

/** Parses lines as if they were in a .gitignore of that directory. */
export function parseIgnoreLines(lines: readonly string[], directory: string): IgnoreFile {
  return { base: startOf(directory), rules: lines.flatMap((line) => parseRule(line) ?? []) };
}

/** The prefix of every path in a directory. */
export function startOf(directory: string): string {
  return directory.endsWith("/") ? directory : `${directory}/`;
}

/**
 * Returns the pattern of one path; undefined outside the directory. `?` replaces characters that are invisible or
 * control a terminal, so the pattern can be printed and copied.
 */
export function patternOf(path: string, directory: string): string | undefined {
  const start = startOf(directory);
  if (!path.startsWith(start)) return undefined;
  const visible = Array.from(path.slice(start.length), (part) =>
    /[^\S ]/.test(part) || oneLine(part) !== part ? "?" : part,
  ).join("");
  return `/${visible.replace(/[*[\]{}!\\]| (?= *$)/g, "\\$&")}`;
}

function parseRule(line: string): IgnoreRule | undefined {
  let pattern = line.trimEnd();
  if (pattern.length < line.length && pattern.endsWith("\\")) pattern += line[pattern.length]!;
  if (pattern === "" || pattern.startsWith("#")) return undefined;
  const isNegated = pattern.startsWith("!");
  if (isNegated) pattern = pattern.slice(1);
  const isForDirectories = pattern.endsWith("/");
  if (isForDirectories) pattern = pattern.slice(0, -1);
  const isAnchored = pattern.includes("/");
  pattern = pattern
    .replace(/^\//, "")
    .replace(/\\.|[{}]/gs, (part) => (part.length > 1 ? part : `\\${part}`));
  return { glob: new Bun.Glob(isAnchored ? pattern : `**/${pattern}`), isNegated, isForDirectories };
}

/** @param stack the ignore files that apply, from the top of the project downwards */
export function isIgnored(path: string, isDirectory: boolean, stack: readonly IgnoreFile[]): boolean {
  let ignored = false;
  for (const { base, rules } of stack) {
    if (!path.startsWith(base)) continue;
    const relative = path.slice(base.length);
    for (const { glob, isNegated, isForDirectories } of rules) {
      if (ignored === !isNegated || (isForDirectories && !isDirectory)) continue;
      if (glob.match(relative)) ignored = !isNegated;
    }
  }
  return ignored;
}
