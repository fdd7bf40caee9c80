// Reads the owner, mode and real path of a path.
//
// Non-obvious: on Linux it calls the kernel through libc, because node:fs takes 3 ms to load.
import type { PathOwner } from "./contract/files.ts";
import * as posix from "./posix/path-owner.ts";

/** Does not follow a symlink. Returns undefined if the path does not exist. @throws the system's error */
export function readOwner(path: string): PathOwner | undefined {
  return (
    (process.platform === "win32" ? undefined : posix.readOwner(path)) ??
    process.getBuiltinModule("node:fs").lstatSync(path, { throwIfNoEntry: false })
  );
}

/** Resolves all symlinks. @throws the system's error */
export function realPathOf(path: string): string {
  return (
    (process.platform === "win32" ? undefined : posix.resolveRealPath(path)) ??
    process.getBuiltinModule("node:fs").realpathSync(path)
  );
}
