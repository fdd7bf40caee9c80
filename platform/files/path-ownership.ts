// Whether a directory stays what it is: nobody but root and this user can exchange it, or one of those that it is in.
//
// Surprising: a directory of our own is not enough. Who may write to the one that it is in can rename ours and make another
// in its place, between our look and our use; unless the sticky bit keeps everybody to what is theirs, as in /tmp.
import { readOwner, realPathOf } from "./path-owner.ts";

const isWindows = process.platform === "win32";
const STICKY = 0o1000;
const WRITABLE_BY_GROUP = 0o020;
const WRITABLE_BY_ALL = 0o002;
/** The group of no file. */
const NO_GROUP = -1;

/** The hint for a cache directory that fails these checks. */
export const OWNER_ADVICE = "give the folder back to this user, or set XDG_CACHE_HOME";

/**
 * Where the directory really is, without symbolic links: those may be other users', so they are not to be gone through
 * again. Throws an Error, of the system's or with a sentence.
 *
 * @param trusted users whose directories are as good as root's
 * @param ownGroup a group that has no other member, and may write
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
 * Checks a directory as `requireOwnPath` does, for this user and the user's own group, and returns its real path. Other
 * users must not create files in it either, sticky bit or not. Windows separates the directories of users.
 */
export function requireOwnDirectory(directory: string): string {
  if (isWindows) return directory;
  const ownGroup = process.getgid!();
  const path = requireOwnedPath(directory, [process.getuid!()], ownGroup);
  const { gid, mode } = readOwner(path)!;
  if (isWritableByOthers(gid, mode, ownGroup)) throw changeable(path);
  return path;
}

/** Checks the path to a directory that is this user's own: others may write beside it where the sticky bit protects it. */
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

/** Many systems give each user a group of their own, and let it write to the user's files. */
function isWritableByOthers(gid: number, mode: number, ownGroup: number): boolean {
  return (mode & WRITABLE_BY_ALL) !== 0 || ((mode & WRITABLE_BY_GROUP) !== 0 && gid !== ownGroup);
}

function changeable(path: string): Error {
  return new Error(`${path} can be changed by other users`);
}
