// What is watched: the project, or what --watch-path and [watch] in rtfig.toml name instead.
//
// Contract: paths are relative to the working directory, and so are the lines of --watch-ignore. A folder that is named
// is watched with every file in it, whatever its extension; a file by itself; a glob where it may match. What exists
// under a name is no glob, so that `pages/[id].tsx` needs no backslash. The reports that rt writes at the end of each run
// never count, not even where they are named.
import { UserError } from "../user-error.ts";
import { printable } from "../printable.ts";
import type { WatchSettings } from "../config/settings/watch.ts";
import { recognizeReports } from "../reporters/report-files/own-report-paths.ts";
import { isGlob } from "../workspace/glob.ts";
import { parentDirectory } from "../workspace/package-json.ts";
import { parseIgnoreLines } from "./gitignore.ts";
import { checkPatterns } from "./watch-patterns.ts";
import { isDirectory, type Root, type WatchScope } from "./source-watcher.ts";

/** All source files of a project. */
export function projectScope(directory: string, ignore: readonly string[] = [], cwd = directory): WatchScope {
  return { roots: [{ directory, isDeep: true }], ignore: parseIgnoreLines(ignore, cwd) };
}

/**
 * Throws Failure.
 * @param project the directory of its package.json
 * @param reports as --report names them
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

function rootOf(path: string, cwd: string): Root {
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
      `There is no "${printable(path)}" to watch`,
      "--watch-path needs a file, a folder, or a glob such as src/**/*.ts",
    );
  // What stands in front of it is a folder's name, whatever is in that.
  const glob = new Bun.Glob(names.slice(literal).join("/"));
  return {
    directory,
    isDeep: true,
    accepts: (file) => glob.match(relative(directory, file).replaceAll(sep, "/")),
  };
}
