// The directories of PATH, in which programs are searched.
import { delimiter } from "node:path";
import type { SearchedPrograms } from "../entry/entry.ts";
import { ancestorsOf, toStoredPath } from "./stored-path.ts";
import type { UserFolders } from "./user-folders.ts";

/**
 * Removes the `node_modules/.bin` directories above the root from PATH, because their paths depend on the checkout.
 * Accesses to them are recorded dependencies.
 */
export function withoutBinariesAbove(path: string, root: string): string {
  const above = new Set(ancestorsOf(root).map((each) => `${each === "/" ? "" : each}/node_modules/.bin`));
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
  return { directories, stored: directories.map((each) => toStoredPath(each, root, folders)) };
}

/** Returns whether PATH has the same directories as when the script ran. */
export function isSameSearchPath({ stored }: SearchedPath, { path }: SearchedPrograms): boolean {
  return stored.length === path.length && stored.every((each, index) => each === path[index]);
}
