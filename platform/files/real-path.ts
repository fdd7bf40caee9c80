// Resolves the symlinks of a path.
//
// Non-obvious: the working directory has none (except on Windows), so it is returned without a call. node:fs, which is slow to
// load, is used for its errors only.
import { directories } from "./directories.ts";

/** @param path absolute @throws the system's error */
export function realPath(path: string): string {
  if (process.platform !== "win32" && path === process.cwd()) return path;
  return findRealPath(path) ?? process.getBuiltinModule("node:fs").realpathSync(path);
}

/** Returns undefined for a path that does not exist. */
export function findRealPath(path: string): string | undefined {
  return directories.resolvePath(path) ?? undefined;
}
