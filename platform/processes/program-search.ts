// Where a program is found by its name, in the directories of a PATH.
import { activeLookupRecorder } from "../files/lookup-recorder.ts";

interface SearchPath {
  readonly PATH: string;
  /** What the relative ones are relative to; the working directory by default. */
  readonly cwd?: string;
}

/** Its path; null where it is in none of them. A name with a slash is a path. */
export function findOnPath(name: string, where: SearchPath): string | null {
  const { PATH, cwd } = where;
  const found = Bun.which(name, cwd === undefined ? { PATH } : { PATH, cwd });
  if (activeLookupRecorder()) note(name, where, found);
  return found;
}

/** Each place where it is, or might have been. */
function note(name: string, { PATH, cwd = process.cwd() }: SearchPath, found: string | null): void {
  const seen = activeLookupRecorder()!;
  const paths = name.includes("/")
    ? [name[0] === "/" ? name : `${cwd}/${name}`]
    : PATH.split(":").map((directory) => `${directory}/${name}`);
  for (const path of paths) if (!seen.paths.has(path)) seen.note(path, "content", isThere(path));
  if (found !== null && !seen.paths.has(found)) seen.isWhole = false;
}

function isThere(path: string): boolean {
  try {
    return process.getBuiltinModule("node:fs").lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false; // a file stands where a directory would have to
  }
}
