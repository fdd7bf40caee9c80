// The folders of a user: the home directory and those of XDG_* and TMPDIR. An entry stores paths below them relative to
// the folder.
//
// Invariants:
// - A mark is the first part of a stored path. A path of the project that begins with `~` is stored as `./~`.
// - Each folder has a default path for tools that do not read the variable. The cache key has whether it is the default.
import { directories } from "../../../platform/files/directories.ts";

/** Loading node:path for it would take milliseconds. */
const { separator } = directories;

/** Absolute paths by mark. A missing folder is unusable: HOME is not set, or is "/". */
export type UserFolders = Readonly<Partial<Record<Mark, string>>>;

const DEFAULTS = {
  "~": { variable: "HOME", behind: "" },
  "~cache": { variable: "XDG_CACHE_HOME", behind: "/.cache" },
  "~config": { variable: "XDG_CONFIG_HOME", behind: "/.config" },
  "~data": { variable: "XDG_DATA_HOME", behind: "/.local/share" },
  "~tmp": { variable: "TMPDIR", behind: undefined },
} as const;

export type Mark = keyof typeof DEFAULTS;

export const MARKS = Object.keys(DEFAULTS) as Mark[];
const TEMPORARY = "/tmp";

/** Resolved folders by path; null for one that does not exist. */
const resolved = new Map<string, string | null>();
const NONE: UserFolders = {};
const known = new Map<string, UserFolders>();

/**
 * Returns the folders of an environment. Their paths are resolved, as recorded paths are. None on Windows, where scripts
 * are not traced. Memoized.
 */
export function userFoldersOf(variables: Readonly<Record<string, string | undefined>>): UserFolders {
  if (separator !== "/") return NONE;
  const { HOME, XDG_CACHE_HOME, XDG_CONFIG_HOME, XDG_DATA_HOME, TMPDIR } = variables;
  const key = JSON.stringify([HOME, XDG_CACHE_HOME, XDG_CONFIG_HOME, XDG_DATA_HOME, TMPDIR]);
  let folders = known.get(key);
  if (!folders) known.set(key, (folders = readUserFolders(variables)));
  return folders;
}

function readUserFolders(variables: Readonly<Record<string, string | undefined>>): UserFolders {
  const home = usable(variables.HOME);
  const folders: Partial<Record<Mark, string>> = {};
  for (const mark of MARKS) {
    const path = usable(variables[DEFAULTS[mark].variable]) ?? defaultFolder(mark, home);
    if (path !== undefined) folders[mark] = path;
  }
  return folders;
}

function usable(path: string | undefined): string | undefined {
  if (path === undefined || !path.startsWith("/")) return undefined;
  let found = resolved.get(path);
  if (found === undefined) resolved.set(path, (found = directories.resolveDirectory(path)));
  // A folder that does not exist yet has no other path.
  const folder = found ?? withoutSlashes(path);
  return folder === "/" ? undefined : folder;
}

function withoutSlashes(path: string): string {
  return path.replace(/(?<=.)\/+$/, "");
}

export function pathsToUserFolders(
  variables: Readonly<Record<string, string | undefined>>,
): [path: string, isThere: boolean][] {
  return MARKS.flatMap((mark): [string, boolean][] => {
    const value = variables[DEFAULTS[mark].variable];
    if (value === undefined || usable(value) === undefined) return [];
    const path = withoutSlashes(value);
    if (resolved.get(value) === null) return [[path, false]];
    const names = path.split("/");
    return names.slice(1).map((_, index) => [names.slice(0, index + 2).join("/"), true]);
  });
}

/**
 * Returns the variables that count, with what counts, for the folders of these variables. An unusable value counts as it is, and so does a missing HOME.
 * Another folder than the default one counts. A script can see it without a recorded access.
 */
export function countedFolders(
  variables: Readonly<Record<string, string | undefined>>,
  folders: UserFolders,
): [string, string][] {
  if (separator !== "/") return [];
  return MARKS.flatMap((mark): [string, string][] => {
    const { variable } = DEFAULTS[mark];
    const value = variables[variable];
    if (value === undefined) return mark === "~" ? [[variable, "\0unset"]] : [];
    if (usable(value) === undefined) return [[variable, value]];
    const isDefault = folders[mark] === defaultFolder(mark, folders["~"]);
    return isDefault ? [] : [[variable, `\0${describeInner(folders[mark]!, mark, folders)}`]];
  });
}

/** Describes the other folders in a folder: paths in them are stored with their marks. */
function describeInner(folder: string, mark: Mark, folders: UserFolders): string {
  const inner = MARKS.filter((each) => each !== mark && isAtOrBelow(folders[each] ?? "", folder));
  return inner.map((each) => each + folders[each]!.slice(folder.length)).join();
}

/** Returns the folder that a variable names; undefined for other variables. */
export function userFolderOf(name: string, folders: UserFolders): string | undefined {
  const mark = MARKS.find((each) => DEFAULTS[each].variable === name);
  return mark && folders[mark];
}

function defaultFolder(mark: Mark, home: string | undefined): string | undefined {
  const { behind } = DEFAULTS[mark];
  return behind === undefined ? TEMPORARY : home && home + behind;
}

/** Returns the path with a mark, for the longest folder that it is in; undefined if it is in none. */
export function markedPath(path: string, folders: UserFolders): string | undefined {
  let longest: Mark | undefined;
  for (const mark of MARKS) {
    const folder = folders[mark];
    if (folder === undefined || !isAtOrBelow(path, folder)) continue;
    if (longest === undefined || folder.length > folders[longest]!.length) longest = mark;
  }
  return longest && longest + path.slice(folders[longest]!.length);
}

/** Splits a stored path; undefined if it has no mark. */
export function splitMark(stored: string): { readonly mark: Mark; readonly rest: string } | undefined {
  if (!stored.startsWith("~")) return undefined;
  const end = stored.indexOf("/");
  const mark = end < 0 ? stored : stored.slice(0, end);
  return Object.hasOwn(DEFAULTS, mark) ? { mark: mark as Mark, rest: stored.slice(mark.length) } : undefined;
}

/** Matches before a path that begins there: `/mnt/home/me` has no path of HOME, `-I/home/me` and `file:///home/me` have one. */
const BEGIN = String.raw`(?:(?<![\w.@+/-])|(?<=(?:^|[\s"'])-[A-Za-z])|(?<=:\/\/))`;

/** Replaces the paths of the folders in a text, so that two users compute the same cache key. */
export function withoutUserFolders(text: string, folders: UserFolders): string {
  if (!text.includes(separator)) return text;
  let result = text;
  const sorted = MARKS.filter((mark) => folders[mark] !== undefined && text.includes(folders[mark])).sort(
    (a, b) => folders[b]!.length - folders[a]!.length,
  );
  for (const mark of sorted)
    result = result.replaceAll(
      new RegExp(`${BEGIN}${RegExp.escape(folders[mark]!)}(?![\\w.-])`, "g"),
      `\0${mark}`,
    );
  return result;
}

function isAtOrBelow(path: string, folder: string): boolean {
  return path.startsWith(folder) && (path.length === folder.length || path[folder.length] === separator);
}
