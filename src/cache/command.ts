// Implements `rt cache status`, `prune`, `clear` and `why`.
//
// Non-obvious:
// - `prune` and `clear` delete the stores of other rt versions too, because no other command does.
import { lstatSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { errorCode } from "../../platform/caught-error.ts";
import { OWNER_ADVICE, requireOwnDirectory } from "../../platform/files/path-ownership.ts";
import { suggestNames } from "../did-you-mean.ts";
import { UserError } from "../user-error.ts";
import { oneLine } from "../printable.ts";
import { type CacheExplanation, parseExplanation } from "./entry/explanation.ts";
import { isBelow } from "./relocation/stored-path.ts";
import { MAX_STORE_SIZE, CacheStore, storeDirectory } from "./store/cache-store.ts";

const WORDS = ["status", "prune", "clear", "why", "import", "serve", "token"];
const EMPTY = "The cache is empty";
const MEGABYTE = 1_000_000;

/** @throws UserError */
export function answerCache(words: readonly string[]): string {
  const directory = storeDirectory();
  if (directory === undefined)
    throw new UserError("Cannot locate the cache directory", "set HOME or XDG_CACHE_HOME");
  try {
    // Some commands delete directories without opening the store.
    for (const each of [dirname(dirname(directory)), dirname(directory)])
      if (isThere(each)) requireOwnDirectory(each);
    return answer(directory, words);
  } catch (error) {
    const { name, message } = error as Error;
    if (name !== "Error") throw error; // a UserError or a system error
    throw new UserError(`The cache cannot be used: ${oneLine(message)}`, OWNER_ADVICE);
  }
}

function answer(directory: string, [word = "status", ...rest]: readonly string[]): string {
  switch (word) {
    case "status":
      refuseWords(word, rest);
      return describeStatus(directory);
    case "prune":
      return prune(directory, rest);
    case "clear":
      refuseWords(word, rest);
      if (!isThere(dirname(directory))) return EMPTY;
      removeOthers(directory);
      rmSync(directory, { recursive: true, force: true });
      return EMPTY;
    case "why":
      return explain(directory, rest);
  }
  const [similar] = suggestNames(word, WORDS);
  throw new UserError(
    `Unknown command: rt cache ${oneLine(word)}`,
    similar
      ? `did you mean rt cache ${similar}?`
      : "use one of: rt cache status, rt cache prune, rt cache clear, rt cache why <script>",
  );
}

/** Prevents `rt cache clear build` from deleting everything. @throws UserError */
function refuseWords(word: string, [more]: readonly string[]): void {
  if (more !== undefined)
    throw new UserError(
      `Unexpected argument "${oneLine(more)}"`,
      `rt cache ${word} applies to the whole cache`,
    );
}

/** @throws the system's error if the check fails */
function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) return false;
    throw error;
  }
}

function describeStatus(directory: string): string {
  if (!isThere(directory)) return `${EMPTY} (${oneLine(directory)})`;
  return `${describeSize(new CacheStore(directory))} in ${oneLine(directory)}`;
}

function describeSize(store: CacheStore): string {
  const { size, entries } = store.measure();
  return `${entries} ${entries === 1 ? "entry" : "entries"} (${(size / MEGABYTE).toFixed(1)} MB)`;
}

function prune(directory: string, words: readonly string[]): string {
  const [, text] = /^--size=(\d{1,9})$/.exec(words[0] ?? "") ?? [];
  if (words.length > 1 || (words.length === 1 && text === undefined))
    throw new UserError(
      `Unexpected argument "${oneLine(words.at(text === undefined ? 0 : 1)!)}"`,
      "rt cache prune --size=<MB> keeps the most recently used entries",
    );
  removeOthers(directory);
  if (!isThere(directory)) return `${EMPTY} (${oneLine(directory)})`;
  const store = new CacheStore(directory);
  const before = store.measure().size;
  store.evict(text === undefined ? MAX_STORE_SIZE : Number(text) * MEGABYTE);
  const { size, entries } = store.measure();
  const removed = Math.max(before - size, 0) / MEGABYTE;
  return `Removed ${removed.toFixed(1)} MB; ${describeSize(store)} ${entries === 1 ? "remains" : "remain"} in ${oneLine(directory)}`;
}

/** Deletes stores with other format versions, and the memos of starts. */
function removeOthers(directory: string): void {
  const above = dirname(directory);
  for (const name of isThere(above) ? readdirSync(above) : [])
    if (/^(?:scripts|starts)-\d+$/.test(name) && name !== basename(directory))
      rmSync(join(above, name), { recursive: true, force: true });
}

function explain(directory: string, [script, ...more]: readonly string[]): string {
  if (script === undefined || more.length > 0)
    throw new UserError("rt cache why needs one script", "as in: rt cache why build");
  const findings = isThere(directory) ? listExplanations(new CacheStore(directory)) : [];
  const named = findings.filter(({ label }) => label === script || label.split(/[ :]/).includes(script));
  if (named.length === 0)
    throw new UserError(
      `No cache record for script "${oneLine(script)}"`,
      "run it once with caching; rt help caching",
    );
  const cwd = realpathSync(".");
  const around = named.filter(({ root }) => root !== undefined && (cwd === root || isBelow(cwd, root)));
  const longest = around.reduce((length, { root }) => Math.max(length, root!.length), 0);
  const own = around.filter(({ root }) => root!.length === longest);
  // Outside of all projects, each line names its project.
  const meant = own.length > 0 ? own : named;
  const placeOf = ({ root }: CacheExplanation) =>
    own.length > 0 || root === undefined ? "" : ` in ${oneLine(root)}`;
  return meant
    .toSorted((a, b) => b.at - a.at)
    .map((each) => {
      const { label, text, at } = each;
      return `${oneLine(label)}${placeOf(each)}, ${new Date(at).toISOString()}: ${oneLine(text)}`;
    })
    .join("\n");
}

function listExplanations(store: CacheStore): CacheExplanation[] {
  return store.scripts().flatMap((name) => parseExplanation(store.readExplanation(name)) ?? []);
}
