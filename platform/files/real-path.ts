// A path without symbolic links.
//
// Surprising: the working directory is told without them, but by Windows, which may know it by another name. Asking anyway
// would load node:fs, which takes as long as all else that is done before a script is found.

/** Throws the system's Error. @param path absolute */
export function realPath(path: string): string {
  if (process.platform !== "win32" && path === process.cwd()) return path;
  return process.getBuiltinModule("node:fs").realpathSync(path);
}
