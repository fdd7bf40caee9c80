// Resolves the symlinks of a path.
//
// Non-obvious: the working directory has none (except on Windows), so it is returned without a call: node:fs is slow to load.

/** @param path absolute @throws the system's error */
export function realPath(path: string): string {
  if (process.platform !== "win32" && path === process.cwd()) return path;
  return process.getBuiltinModule("node:fs").realpathSync(path);
}
