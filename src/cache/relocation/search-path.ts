// The directories of PATH, in which programs are searched.
import { delimiter } from "node:path";
import type { SearchedPrograms } from "../entry/entry.ts";
import { memoizeByLocation } from "./location-memo.ts";
import { ancestorsOf, toStoredPath } from "./stored-path.ts";
import type { UserFolders } from "./user-folders.ts";

/** Directories above a root, by root. */
const binariesAbove = new Map<string, ReadonlySet<string>>();

/**
 * Removes the `node_modules/.bin` directories above the root from PATH, because their paths depend on the checkout.
 * Accesses to them are recorded dependencies.
 */
export function withoutBinariesAbove(path: string, root: string): string {
  let above = binariesAbove.get(root);
  if (!above) {
    above = new Set(ancestorsOf(root).map((each) => `${each === "/" ? "" : each}/node_modules/.bin`));
    binariesAbove.set(root, above);
  }
  return path
    .split(":")
    .filter((each) => !above.has(each))
    .join(":");
}

/** The absolute directories of PATH. */
export interface SearchedPath {
  readonly directories: readonly string[];
  /** The same as stored paths. */
  readonly stored: readonly string[];
}

/** @param path value of PATH */
export function searchPathOf(path: string, root: string, folders: UserFolders): SearchedPath {
  const directories = [...new Set(path.split(delimiter))].filter((each) => each.startsWith("/"));
  const known = storedDirectories({ root, folders });
  const store = (directory: string) => {
    let stored = known.get(directory);
    if (stored === undefined) known.set(directory, (stored = toStoredPath(directory, root, folders)));
    return stored;
  };
  return { directories, stored: directories.map(store) };
}

/** Most scripts of a run have the same directories. */
const storedDirectories = memoizeByLocation(() => new Map<string, string>());

/** Returns whether PATH has the same directories as when the script ran. */
export function isSameSearchPath({ stored }: SearchedPath, { path }: SearchedPrograms): boolean {
  return stored.length === path.length && stored.every((each, index) => each === path[index]);
}
