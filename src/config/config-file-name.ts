// What rt knows of rtfig.toml before it reads one: its name, and whether any of a project says which secrets scripts get, or
// which of them are cached.
//
// The latter is asked before every start of a script, so that one which has none costs no more than a look for a file in
// each folder above it; what the files mean is src/secrets/grants's to say, and src/config/settings/cache.ts'.
import { files } from "../../platform/files/files.ts";
import { parentDirectory } from "../workspace/package-json.ts";

export const FILE_NAME = "rtfig.toml";

/** Bytes. The engine's parser takes time by the square of the keys: seconds for as much as this. */
export const LARGEST_CONFIG = 128 * 1024;

/** Whether an rtfig.toml in this absolute directory, or above it, has one of the words in it. */
export function mentionsInConfig(from: string, ...words: readonly ("secrets" | "cache")[]): boolean {
  for (let directory: string | null = from; directory !== null; directory = parentDirectory(directory)) {
    const start = directory[directory.length - 1] === "/" ? directory : `${directory}/`;
    const bytes = files.readFile(start + FILE_NAME, LARGEST_CONFIG + 1);
    if (typeof bytes !== "string" && hasWord(bytes, words)) return true;
  }
  return false;
}

function hasWord(bytes: Uint8Array, words: readonly string[]): boolean {
  const text = new TextDecoder("latin1").decode(bytes);
  return words.some((word) => text.includes(word));
}
