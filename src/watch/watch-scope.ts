// Resolves the watch scope: the project, or the paths of --watch-path and [watch] in rtfig.toml.
//
// Invariants:
// - Paths and ignore lines are relative to the working directory.
// - A named folder is watched with all its files. A glob is watched from its first literal folder.
// - A name that exists is not a glob, so `pages/[id].tsx` needs no escaping.
// - Report files of rt are never watched.
import { UserError } from "../user-error.ts";
import { printable } from "../printable.ts";
import type { WatchSettings } from "../config/settings/watch.ts";
import { recognizeReports } from "../reporters/report-files/own-report-paths.ts";
import { isGlob } from "../workspace/glob.ts";
import { parentDirectory } from "../workspace/package-json.ts";
import { parseIgnoreLines } from "./gitignore.ts";
import { checkPatterns } from "./watch-patterns.ts";
import { isDirectory } from "./directory-watches.ts";
import type { WatchRoot, WatchScope } from "./watch-selection.ts";

/** All source files of a project. */
export function projectScope(directory: string, ignore: readonly string[] = [], cwd = directory): WatchScope {
  return { roots: [{ directory, isDeep: true }], ignore: parseIgnoreLines(ignore, cwd) };
}

/**
 * @throws UserError
 * @param project the directory of its package.json
 * @param reports as given to --report
 */
export function readScope(
  { paths, ignore }: Pick<WatchSettings, "paths" | "ignore">,
  project: string,
  cwd: string,
  reports: readonly string[],
): WatchScope {
  checkPatterns("watch-path", paths);
  checkPatterns("watch-ignore", ignore);
  const lines = ignore.map((line) => line.replace(/^(!?)\.\//, "$1/"));
  const isOwn = recognizeReports(reports, cwd);
  if (paths.length === 0) return { ...projectScope(project, lines, cwd), isOwn };
  return { roots: paths.map((path) => rootOf(path, cwd)), ignore: parseIgnoreLines(lines, cwd), isOwn };
}

function rootOf(path: string, cwd: string): WatchRoot {
  const { existsSync } = process.getBuiltinModule("node:fs");
  const { relative, resolve, sep } = process.getBuiltinModule("node:path");
  const absolute = resolve(cwd, path);
  if (isDirectory(absolute)) return { directory: absolute, isDeep: true, accepts: () => true };
  if (existsSync(absolute))
    return { directory: parentDirectory(absolute) ?? "/", isDeep: false, file: absolute };
  const names = path.split("/");
  const literal = names.findIndex(isGlob);
  const directory = resolve(cwd, names.slice(0, Math.max(0, literal)).join("/") || ".");
  if (literal < 0 || !isDirectory(directory))
    throw new UserError(
      `Cannot watch "${printable(path)}": no such file or folder`,
      "pass a file, a folder, or a glob such as src/**/*.ts",
    );
  // The part before the glob is a folder name, even if it contains special characters.
  const glob = new Bun.Glob(names.slice(literal).join("/"));
  return {
    directory,
    isDeep: true,
    accepts: (file) => glob.match(relative(directory, file).replaceAll(sep, "/")),
  };
}
