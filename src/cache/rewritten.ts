// What is advised where a script has changed what it had read, by what git says of the files: those that it ignores are
// some tool's own (.tsbuildinfo, .next), and can be the script's outputs; all others are somebody's sources, and a script
// that mends them (a formatter) finds nothing to change the next time.
import { relative, sep } from "node:path";
import { oneLine } from "../printable.ts";
import { listPackageFiles } from "../workspace/package-files.ts";

/** More paths than these are named by their folders. */
const MOST_NAMED = 3;

/** The end of the sentence that names the first of them. @param paths absolute */
export async function adviseRewritten(
  paths: readonly string[],
  root: string,
  packageDirectory: string,
): Promise<string> {
  const sources = new Set(await listPackageFiles(root));
  return adviceFor(
    paths.map((path) => ({
      path: relative(packageDirectory, path).replaceAll(sep, "/"),
      isSource: sources.has(path),
    })),
  );
}

interface Rewritten {
  /** From the package. */
  readonly path: string;
  readonly isSource: boolean;
}

/** Pure. */
export function adviceFor(files: readonly Rewritten[]): string {
  if (files.some(({ isSource }) => isSource))
    return "a run that changes nothing of what it reads is kept; list it in ignore of [run.cache], if its old content does not matter";
  const globs = files.length > MOST_NAMED ? foldersOf(files) : files.map(({ path }) => path);
  const texts = globs.map((glob) => JSON.stringify(oneLine(glob)));
  return `if its old content does not matter, say so in [run.cache]: outputs = [${texts.join(", ")}]`;
}

/** `.next/server/a.js` is of `.next/**`; of node_modules the folder within counts. */
function foldersOf(files: readonly Rewritten[]): string[] {
  const folders = files.map(({ path }) => {
    const parts = path.split("/");
    const depth = parts.lastIndexOf("..") + (parts.includes("node_modules") ? 3 : 2);
    return parts.length > depth ? `${parts.slice(0, depth).join("/")}/**` : path;
  });
  return [...new Set(folders)];
}
