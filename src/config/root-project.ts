// The root project: whose rtfig.toml speaks for the scripts of all its packages.
//
// Contract: the workspace that the package is a member of, or the package itself where there is none, or the working
// directory where there is no package. Never a package below a node_modules, whoever's it is, nor a folder above that another
// user has put there.
//
// Surprising: node:fs and node:path are asked for where they are needed. A package in the working directory, which is most of
// them, needs neither, and loading them takes as long as all else here.
import { realPath } from "../../platform/files/real-path.ts";
import { findWorkspaceRoot } from "../workspace/members.ts";
import { findPackageJson } from "../workspace/package-json.ts";
import { FILE_NAME } from "./config-file-name.ts";

/** Its folder, without symbolic links; undefined where none may speak for a package. Throws Failure, PackageJsonError. */
export function findRoot(from: string): string | undefined {
  const here = realPath(from);
  if (/[\\/]node_modules(?:[\\/]|$)/.test(here)) return undefined;
  const own = findPackageJson(here)?.directory ?? here;
  const root = findWorkspaceRoot(own) ?? own;
  return root === own || isOwnersOf(root, own) ? root : undefined;
}

/**
 * Whether the file above is this user's, root's, or that of who has the package; as long as there is none, the package.json
 * that it would lie beside. Windows has no such numbers.
 */
function isOwnersOf(root: string, own: string): boolean {
  const uid = process.getuid?.();
  if (uid === undefined) return true;
  const { lstatSync } = process.getBuiltinModule("node:fs");
  const { join } = process.getBuiltinModule("node:path");
  const ownerOf = (name: string) => lstatSync(join(root, name), { throwIfNoEntry: false })?.uid;
  const owner = ownerOf(FILE_NAME) ?? ownerOf("package.json");
  return owner === uid || owner === 0 || owner === lstatSync(own).uid;
}
