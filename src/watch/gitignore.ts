// Which paths of a project Git ignores.
//
// Contract (gitignore(5)): the last pattern that matches decides, `!` takes a path back in, a pattern with a slash
// before its end holds from the directory of its file, one with a slash at its end is for directories. A
// directory that is ignored is not entered, so nothing below it can be taken back in.
import { files } from "../../platform/files/files.ts";

interface IgnoreRule {
  readonly glob: Bun.Glob;
  readonly isNegated: boolean;
  readonly isForDirectories: boolean;
}

export interface IgnoreFile {
  /** With a slash at its end. */
  readonly base: string;
  readonly rules: readonly IgnoreRule[];
}

/** The rules of a directory's own .gitignore, in its order; undefined when it has none. */
export function readIgnoreFile(directory: string): IgnoreFile | undefined {
  const content = files.readFile(`${directory}/.gitignore`);
  if (typeof content === "string") return undefined;
  return parseIgnoreLines(new TextDecoder().decode(content).split(/\r?\n/), directory);
}

/** Of a file that would stand in that directory. */
export function parseIgnoreLines(lines: readonly string[], directory: string): IgnoreFile {
  return { base: startOf(directory), rules: lines.flatMap((line) => parseRule(line) ?? []) };
}

/** What every path in a directory begins with. */
export function startOf(directory: string): string {
  return directory.endsWith("/") ? directory : `${directory}/`;
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
  pattern = pattern.replace(/^\//, "").replace(/[{}]/g, "\\$&");
  return { glob: new Bun.Glob(isAnchored ? pattern : `**/${pattern}`), isNegated, isForDirectories };
}

/** @param stack the ignore files that hold, from the top of the project downwards */
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
