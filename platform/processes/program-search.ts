// Finds a program by name in the directories of a PATH.
import { directories } from "../files/directories.ts";
import { readUnrecorded } from "../files/files.ts";
import { activeLookupRecorder } from "../files/lookup-recorder.ts";

interface SearchPath {
  readonly PATH: string;
  /** Base of relative directories; by default the working directory. */
  readonly cwd?: string;
}

/** Returns the path, or null. A name with a slash is a path. */
export function findOnPath(name: string, where: SearchPath): string | null {
  const { PATH, cwd } = where;
  const found = Bun.which(name, cwd === undefined ? { PATH } : { PATH, cwd });
  if (activeLookupRecorder()) note(name, where, found);
  return found;
}

/** Records each path at which the program was or could have been found. */
function note(name: string, { PATH, cwd = process.cwd() }: SearchPath, found: string | null): void {
  const seen = activeLookupRecorder()!;
  const paths = name.includes("/")
    ? [name[0] === "/" ? name : `${cwd}/${name}`]
    : PATH.split(":").map((directory) => `${directory}/${name}`);
  for (const path of paths) if (!seen.paths.has(path)) seen.note(path, "way", isThere(path));
  if (found !== null && !seen.paths.has(found)) seen.isWhole = false;
}

/** Also true for a program that this user cannot read. node:fs would take a millisecond to load. */
function isThere(path: string): boolean {
  const start = readUnrecorded(path, 1);
  if (typeof start !== "string") return true;
  return start !== "ENOENT" && start !== "ENOTDIR" && directories.resolvePath(path) !== null;
}
