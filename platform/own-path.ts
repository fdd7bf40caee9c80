// Whether a directory stays what it is: nobody but root and this user can exchange it, or one of those that it is in.
//
// Surprising: a directory of our own is not enough. Who may write to the one that it is in can rename ours and make another
// in its place, between our look and our use; unless the sticky bit keeps everybody to what is theirs, as in /tmp.
import { readOwner, whereReally } from "./path-owner.ts";

const STICKY = 0o1000;
const WRITABLE_BY_OTHERS = 0o022;

/**
 * Where the directory really is, without symbolic links: those may be other users', so they are not to be gone through
 * again. Throws an Error, of the system's or with a sentence.
 *
 * @param trusted users whose directories are as good as root's
 */
export function requireOwnPath(directory: string, trusted: readonly number[]): string {
  const path = whereReally(directory);
  for (let each = path; ; each = each.slice(0, each.lastIndexOf("/")) || "/") {
    const { uid, mode } = readOwner(each)!;
    const isOpen = (mode & WRITABLE_BY_OTHERS) !== 0 && (mode & STICKY) === 0;
    if (isOpen || (uid !== 0 && !trusted.includes(uid)))
      throw new Error(`${each} can be changed by other users`);
    if (each === "/") return path;
  }
}
