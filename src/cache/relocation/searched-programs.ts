// Records the programs that a script found in PATH, so that PATH itself does not count. Another user may have other
// directories in it, or another order.
//
// Invariants:
// - Every name counts that the trace has in a directory of PATH, also if no program was found.
// - With another PATH, each of these names must lead to the same stored path. Its content is a recorded dependency.
import { basename, dirname } from "node:path";
import type { StatPath } from "../../../platform/tracing/contract/tracing.ts";
import type { RecordedDependency, SearchedPrograms } from "../entry/entry.ts";
import type { ResolveDirectory } from "../memo/stat-cache.ts";
import type { EntryLocation } from "./relocation.ts";
import { isSameSearchPath } from "./search-path.ts";
import { toStoredPath } from "./stored-path.ts";

type Located = Pick<EntryLocation, "root" | "folders" | "searchPath">;

/** Access to the programs. A directory is resolved because /bin is a link to /usr/bin on most systems. */
export interface ProgramView {
  readonly stat: StatPath;
  readonly resolve: ResolveDirectory;
}

const EXECUTABLE = 0o111;

export function recordPrograms(
  conditions: readonly RecordedDependency[],
  located: Located,
  { stat, resolve }: ProgramView,
): SearchedPrograms {
  const { directories, stored } = located.searchPath;
  const resolved = new Map(directories.map((each) => [each, resolve(each)]));
  const all = new Set([...resolved].flat());
  const names = new Set<string>();
  for (const [kind, each] of conditions)
    if (kind !== "names" && all.has(dirname(each))) names.add(basename(each));
  const view = { stat, resolve: (directory: string) => resolved.get(directory)! };
  return { path: stored, found: [...names].sort().map((name) => [name, findProgram(name, located, view)]) };
}

/** Returns the first program that PATH leads elsewhere for, as text; undefined if there is none. */
export function findOtherProgram(
  programs: SearchedPrograms,
  located: Located,
  view: ProgramView,
): string | undefined {
  if (isSameSearchPath(located.searchPath, programs)) return undefined;
  for (const [name, before] of programs.found) {
    const now = findProgram(name, located, view);
    if (now === before) continue;
    return `the program ${name} is ${now ?? "not in PATH"}, and was ${before ?? "not in PATH"}`;
  }
  return undefined;
}

function findProgram(
  name: string,
  { root, folders, searchPath }: Located,
  { stat, resolve }: ProgramView,
): string | null {
  const isProgram = (path: string) => {
    const state = stat(path);
    return state.kind === "link" || (state.kind === "file" && (state.mode & EXECUTABLE) !== 0);
  };
  const directory = searchPath.directories.find((each) => isProgram(`${each}/${name}`));
  return directory === undefined ? null : toStoredPath(`${resolve(directory)}/${name}`, root, folders);
}
