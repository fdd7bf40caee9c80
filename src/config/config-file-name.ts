// Names rtfig.toml and checks, without parsing, whether one may configure secrets, caching or tasks.
//
// Non-obvious:
// - The check runs before every start of a script. A script without either setting costs one failed read in each parent folder.
//   src/secrets/grants and src/config/settings/cache.ts interpret the files.
import { files } from "../../platform/files/files.ts";
import { parentDirectory } from "../workspace/package-json.ts";

export const FILE_NAME = "rtfig.toml";

/** Words of the tables of the root project that a run reads. The front reads this list, too: build/executable/front.ts. */
export const ROOT_SETTINGS = ["cache", "tasks", "permissions"] as const;

/** Bytes. The engine's parser is quadratic in the number of keys: a file of this size takes seconds. */
export const MAX_CONFIG_SIZE = 128 * 1024;

/** Returns the folder of a configuration file. The usual one needs no node:path, which is slow to load. */
export function folderOfConfig(file: string, cwd: string): string {
  if (file === FILE_NAME) return cwd;
  const { dirname, resolve } = process.getBuiltinModule("node:path");
  return dirname(resolve(cwd, file));
}

/** Returns whether an rtfig.toml in this absolute directory, or above it, contains one of the words. */
export function mentionsInConfig(
  from: string,
  ...words: readonly ("secrets" | (typeof ROOT_SETTINGS)[number])[]
): boolean {
  for (let directory: string | null = from; directory !== null; directory = parentDirectory(directory)) {
    const start = directory[directory.length - 1] === "/" ? directory : `${directory}/`;
    const bytes = files.readFile(start + FILE_NAME, MAX_CONFIG_SIZE + 1);
    if (typeof bytes !== "string" && hasWord(bytes, words)) return true;
  }
  return false;
}

function hasWord(bytes: Uint8Array, words: readonly string[]): boolean {
  const text = new TextDecoder("latin1").decode(bytes);
  return words.some((word) => text.includes(word));
}
