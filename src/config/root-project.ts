// Finds the root project, whose rtfig.toml applies to the scripts of all its packages. It is the workspace that the package is
// a member of, else the package, else the working directory.
//
// Invariants:
// - A package below node_modules has no root project, and a parent folder of another user is not one.
//
// Non-obvious:
// - node:fs and node:path are loaded lazily: a package in the working directory needs neither, and they cost as much as the rest.
import { forbidReplay } from "../../platform/files/lookup-recorder.ts";
import { realPath } from "../../platform/files/real-path.ts";
import { findWorkspaceRoot } from "../workspace/members.ts";
import { findPackageJson } from "../workspace/package-json.ts";
import { FILE_NAME } from "./config-file-name.ts";

/** Returns its real path; undefined if the package has no root project. @throws UserError, PackageJsonError */
export function findRoot(from: string): string | undefined {
  const here = realPath(from);
  if (/[\\/]node_modules(?:[\\/]|$)/.test(here)) return undefined;
  const own = findPackageJson(here)?.directory ?? here;
  const root = findWorkspaceRoot(own) ?? own;
  return root === own || isTrustedOwner(root, own) ? root : undefined;
}

/**
 * Returns whether this user, root, or the owner of the package owns the rtfig.toml of the parent folder. If it does not
 * exist, the package.json beside it is checked. Windows has no user IDs.
 */
function isTrustedOwner(root: string, own: string): boolean {
  const uid = process.getuid?.();
  if (uid === undefined) return true;
  const { lstatSync } = process.getBuiltinModule("node:fs");
  const { join } = process.getBuiltinModule("node:path");
  const ownerOf = (name: string) => lstatSync(join(root, name), { throwIfNoEntry: false })?.uid;
  const owner = ownerOf(FILE_NAME) ?? ownerOf("package.json");
  if (owner === uid || owner === 0) return true;
  forbidReplay(); // a fingerprint of a folder lacks its owner
  return owner === lstatSync(own).uid;
}
