// What is advised where a script has changed what it had read, by what git says of the files: those that it ignores are
// some tool's own (.tsbuildinfo, .next), and can be the script's outputs; all others are somebody's sources, and a script
// that mends them (a formatter) finds nothing to change the next time. Pure.
import { relative, sep } from "node:path";
import { oneLine } from "../printable.ts";

/** More paths than these are named by their folders. */
const MOST_NAMED = 3;

/** The end of the sentence that names the first of them. @param paths absolute @param sources those of them that are some */
export function adviseRewritten(
  paths: readonly string[],
  sources: ReadonlySet<string>,
  packageDirectory: string,
): string {
  if (sources.size > 0)
    return "git does not ignore that, and a run that changes no source is kept; list it in ignore of [run.cache], if its old content does not matter";
  const files = paths.map((path) => relative(packageDirectory, path).replaceAll(sep, "/"));
  const globs = files.length > MOST_NAMED ? foldersOf(files) : files;
  const texts = globs.map((glob) => JSON.stringify(oneLine(glob)));
  return `if its old content does not matter, say so in [run.cache]: outputs = [${texts.join(", ")}]`;
}

/** `.next/server/a.js` is of `.next/**`; of node_modules the folder within counts. */
function foldersOf(files: readonly string[]): string[] {
  const folders = files.map((path) => {
    const parts = path.split("/");
    const depth = parts.lastIndexOf("..") + (parts.includes("node_modules") ? 3 : 2);
    return parts.length > depth ? `${parts.slice(0, depth).join("/")}/**` : path;
  });
  return [...new Set(folders)];
}
