// What of an entry may go to others, and may come from them: files in the script's own package, or that it has declared as
// its outputs; links that lead to something in the project.
//
// Contract: pure. What a script does on one's own machine is one's own affair; an entry from elsewhere was made by whoever
// may write there, and must not be able to touch a repository's hooks, or a package that it is not of.
import { dirname, isAbsolute, normalize, resolve } from "node:path";
import { isRepositoryName } from "../../repository-name.ts";
import type { CacheEntry, RecordedOutput } from "../entry/entry.ts";
import { isBelow } from "../entry/relocation.ts";
import type { ShareScope } from "../shared-cache.ts";

const PERMISSIONS = 0o777;

/** The first output that may not; undefined where all may. Paths of the entry are absolute here. */
export function findUnshareableOutput(entry: CacheEntry, scope: ShareScope): string | undefined {
  return entry.outputs.find((output) => !isInside(output, scope))?.path;
}

function isInside(output: RecordedOutput, scope: ShareScope): boolean {
  const { path } = output;
  const { root, packageDirectory } = scope;
  if (normalize(path) !== path || path.endsWith("/") || path.includes("\0")) return false;
  if (!isBelow(path, root) || path.split("/").some(isRepositoryName)) return false;
  if (!isBelow(path, packageDirectory) && !scope.isDeclared(path)) return false;
  if (output.kind === "file" || output.kind === "directory") return (output.mode & ~PERMISSIONS) === 0;
  return output.kind !== "link" || staysInside(output.target, path, root);
}

function staysInside(target: string, path: string, root: string): boolean {
  if (target === "" || isAbsolute(target)) return false;
  const end = resolve(dirname(path), target);
  return end === root || isBelow(end, root);
}
