// The paths of a stored entry: those in the project are relative to its root, those in a folder of the user have its mark.
import { directories } from "../../../platform/files/directories.ts";
import { markedPath, type UserFolders, splitMark } from "./user-folders.ts";

/** Loading node:path for it would take milliseconds. */
const { separator } = directories;

/** The portable path of the root. */
const ROOT = ".";

/** Returns a path in the project relative to the root and with "/"; any other path unchanged. */
export function toPortablePath(path: string, root: string): string {
  if (path === root) return ROOT;
  return isBelow(path, root) ? withSlashes(path.slice(root.length + 1)) : path;
}

/** Returns the path as an entry stores it: relative to the root, or to a folder of the user. */
export function toStoredPath(path: string, root: string, folders: UserFolders): string {
  const portable = toPortablePath(path, root);
  if (portable === path) return markedPath(path, folders) ?? path;
  return portable.startsWith("~") ? `./${portable}` : portable;
}

/** Returns a path with "/", as in globs. Only Windows paths are changed: elsewhere a name may contain a backslash. */
export function withSlashes(path: string): string {
  return separator === "/" ? path : path.replaceAll(separator, "/");
}

/** Returns the path of the project that a stored path means; undefined if it is outside. */
export function pathInProject(stored: string, root: string): string | undefined {
  if (stored === ROOT) return root;
  if (isAbsolutePath(stored) || splitMark(stored)) return undefined;
  const path = stored.startsWith("./~") ? stored.slice(2) : stored;
  return root + separator + (separator === "/" ? path : path.replaceAll("/", separator));
}

function isAbsolutePath(stored: string): boolean {
  return stored.startsWith("/") || /^[A-Za-z]:\\/.test(stored);
}

/** Returns whether an untrusted value may be a path of an entry. An output must be below the root (path traversal). */
export function isPortablePath(stored: unknown, isInside: boolean): boolean {
  if (typeof stored !== "string" || stored === "" || stored.includes("\0")) return false;
  if (isAbsolutePath(stored)) return !isInside;
  if (splitMark(stored)) return !isInside && !stored.split("/").includes("..");
  const isUpwards = stored.includes("..") && stored.split(/[/\\]/).includes("..");
  return !isUpwards && (!isInside || stored !== ROOT);
}

export function isBelow(path: string, root: string): boolean {
  return path.startsWith(root) && path[root.length] === separator;
}

const roots = new Map<string, RegExp>();

/** Removes the root's path from a text, so that two checkouts compute the same cache key. */
export function withoutRoot(text: string, root: string): string {
  if (!text.includes(root)) return text;
  let pattern = roots.get(root);
  if (!pattern) roots.set(root, (pattern = new RegExp(`${RegExp.escape(root)}(?![\\w.-])`, "g")));
  return text.replaceAll(pattern, "\0root");
}

/** Returns the directories from the parent of a path up to "/". */
export function ancestorsOf(path: string): string[] {
  const words = path.split(/[/\\]/).filter((each) => each !== "");
  return words.map((_, index) => `/${words.slice(0, words.length - 1 - index).join("/")}`);
}
