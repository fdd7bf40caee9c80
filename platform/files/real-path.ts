// Resolves the symlinks of a path.
//
// Non-obvious: the working directory has none (except on Windows), so it is returned without a call. node:fs, which is slow to
// load, is used for its errors only.
import { directories } from "./directories.ts";
import { activeLookupRecorder, forbidReplay } from "./lookup-recorder.ts";

/** @param path absolute @throws the system's error */
export function realPath(path: string): string {
  if (process.platform !== "win32" && path === process.cwd()) return path;
  return findRealPath(path) ?? process.getBuiltinModule("node:fs").realpathSync(path);
}

/** Returns undefined for a path that does not exist. */
export function findRealPath(path: string): string | undefined {
  return directories.resolvePath(path) ?? undefined;
}

/** Like `findRealPath`, for the memo of a start. A path with a symlink prevents it. */
export function findRecordedPath(path: string): string | undefined {
  const real = findRealPath(path);
  const seen = activeLookupRecorder();
  if (!seen) return real;
  if (real !== undefined && real !== path) forbidReplay();
  seen.note(path, "way", real !== undefined);
  // A folder of the path may be replaced by a symlink.
  for (let at = path; real !== undefined && at.lastIndexOf("/") > 0;) {
    at = at.slice(0, at.lastIndexOf("/"));
    seen.note(at, "way", true);
  }
  return real;
}
