// Finds a program by name in the directories of a PATH.
import { files } from "../files/files.ts";
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
  // Reading records the lookup. node:fs would take a millisecond to load.
  for (const path of paths) if (!seen.paths.has(path)) files.readFile(path, 1);
  if (found !== null && !seen.paths.has(found)) seen.isWhole = false;
}
