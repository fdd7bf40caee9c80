// Whose a path is, and where it really is.
//
// Surprising: on Linux the kernel is asked without node:fs, which takes three milliseconds to load: a fifth of what a program
// that is debugged may start later for it.
import type { PathOwner } from "./contract/files.ts";
import * as posix from "./posix/path-owner.ts";

/** Of the link, where it is one; undefined where nothing is. Throws the system's error for what cannot be looked at. */
export function readOwner(path: string): PathOwner | undefined {
  return (
    (process.platform === "win32" ? undefined : posix.readOwner(path)) ??
    process.getBuiltinModule("node:fs").lstatSync(path, { throwIfNoEntry: false })
  );
}

/** Without symbolic links. Throws the system's error. */
export function realPathOf(path: string): string {
  return (
    (process.platform === "win32" ? undefined : posix.whereReally(path)) ??
    process.getBuiltinModule("node:fs").realpathSync(path)
  );
}
