// Checks which outputs may be shared: files in the script's package, declared outputs, and symlinks with targets in
// the project.
//
// Invariants:
// - Pure. Shared entries are untrusted: without this check one could overwrite a repository's hooks, or another
//   package.
import { dirname, isAbsolute, normalize, resolve } from "node:path";
import { isRepositoryName } from "../../repository-name.ts";
import type { CacheEntry, RecordedOutput } from "../entry/entry.ts";
import { isBelow } from "../relocation/stored-path.ts";
import type { ShareScope } from "../shared-cache.ts";

const PERMISSIONS = 0o777;

/** Returns the path of the first output that must not be shared. Paths of the entry are absolute. */
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
