// Rejects directories that other users can change or replace.
//
// Non-obvious: owning a directory is not enough (TOCTOU). With write access to its parent, another user can replace it between
// check and use. A sticky bit on the parent, as on /tmp, prevents that.
import { readOwner, realPathOf } from "./path-owner.ts";

const isWindows = process.platform === "win32";
const STICKY = 0o1000;
const WRITABLE_BY_GROUP = 0o020;
const WRITABLE_BY_ALL = 0o002;
/** No file has this group. */
const NO_GROUP = -1;

/** The hint for a cache directory that fails these checks. */
export const OWNER_ADVICE = "give the folder back to this user, or set XDG_CACHE_HOME";

/**
 * Returns the real path of the directory. The caller must use it instead of `directory`, whose symlinks may belong to other users.
 *
 * @param trusted user ids that are trusted in addition to root
 * @param ownGroup a group without other members, which may have write permission
 * @throws an Error of the system, or with a sentence as its message
 */
export function requireOwnedPath(directory: string, trusted: readonly number[], ownGroup = NO_GROUP): string {
  const path = realPathOf(directory);
  for (let each = path; ; each = each.slice(0, each.lastIndexOf("/")) || "/") {
    const { uid, gid, mode } = readOwner(each)!;
    const isOpen = isWritableByOthers(gid, mode, ownGroup) && (mode & STICKY) === 0;
    if (isOpen || (uid !== 0 && !trusted.includes(uid))) throw changeable(each);
    if (each === "/") return path;
  }
}

/**
 * Checks a directory as `requireOwnedPath` does, for this user and the user's own group, and returns its real path. Other
 * users must not create files in it either, sticky bit or not. Not needed on Windows, which separates the users' directories.
 */
export function requireOwnDirectory(directory: string): string {
  if (isWindows) return directory;
  const ownGroup = process.getgid!();
  const path = requireOwnedPath(directory, [process.getuid!()], ownGroup);
  const { gid, mode } = readOwner(path)!;
  if (isWritableByOthers(gid, mode, ownGroup)) throw changeable(path);
  return path;
}

/** Checks the parents of the user's directory: other users may write there if the sticky bit is set. */
export function requireOwnParent(directory: string): void {
  const { dirname } = process.getBuiltinModule("node:path");
  if (!isWindows) requireOwnedPath(dirname(directory), [process.getuid!()], process.getgid!());
}

/** Creates a directory if it is absent, checks it and its parent, and returns its real path. */
export function makeOwnDirectory(directory: string): string {
  const { mkdirSync } = process.getBuiltinModule("node:fs");
  const { dirname } = process.getBuiltinModule("node:path");
  const make = (path: string) => mkdirSync(path, { recursive: true, mode: 0o700 });
  make(dirname(directory));
  requireOwnDirectory(dirname(directory));
  make(directory);
  return requireOwnDirectory(directory);
}

/** Many systems give each user a private group, which may write to the user's files. */
function isWritableByOthers(gid: number, mode: number, ownGroup: number): boolean {
  return (mode & WRITABLE_BY_ALL) !== 0 || ((mode & WRITABLE_BY_GROUP) !== 0 && gid !== ownGroup);
}

function changeable(path: string): Error {
  return new Error(`${path} is writable by other users`);
}
