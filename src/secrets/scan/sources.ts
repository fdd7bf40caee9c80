// The texts that `rt secrets check` looks at.
//
// Contract: links are not followed, and what is no regular file, no text, or larger than any text that a person writes is
// left out and counted; so is what may not be read. Nothing of node_modules and .git is looked at.
import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { errorCode } from "../../../platform/caught-error.ts";
import { printable } from "../../printable.ts";
import { ArgumentError } from "../command-arguments.ts";
import { isPlaceOfCredentials } from "./context-rules.ts";
import type { CheckedText } from "./finding.ts";
import { askGit, requireGit, splitNames } from "./git.ts";

/** Bytes. */
const LARGEST = 1024 * 1024;
const LEFT_OUT = new Set(["node_modules", ".git"]);

export interface Sources extends Iterable<CheckedText> {
  /** Files of more than a megabyte that were passed over, so far. */
  readonly large: readonly string[];
  /** Files and folders that this user may not read, so far. */
  readonly closed: readonly string[];
}

/** What the working directory has: what git tracks, and files for credentials that it does not. All, without git. */
export function projectSources(): Sources {
  const tracked = askGit(["ls-files", "-z", "--cached"]);
  if (!tracked) return filesOf((closed) => walk(".", closed));
  const others = askGit(["ls-files", "-z", "--others", "--exclude=node_modules/"]) ?? Buffer.alloc(0);
  const names = new Set([...splitNames(tracked), ...splitNames(others).filter(isPlaceOfCredentials)]);
  return filesOf(() => names);
}

/** Files, and folders with all that is in them. Throws WordsError. */
export function namedSources(paths: readonly string[]): Sources {
  const kinds = paths.map((path) => {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (!stats) throw new ArgumentError(`There is no ${printable(path)}`);
    return { path, isFolder: stats.isDirectory() };
  });
  return filesOf(function* (closed) {
    for (const { path, isFolder } of kinds)
      if (isFolder) yield* walk(path, closed);
      else yield path;
  });
}

/** What would be committed, as it would be. Throws WordsError. */
export function stagedSources(): Sources {
  const large: string[] = [];
  const format = ["--raw", "-z", "--no-renames", "--no-abbrev", "--no-ext-diff", "--relative"];
  const words = splitNames(requireGit(["diff", "--cached", "--diff-filter=ACMT", ...format]));
  const staged = words.flatMap((word, index) => {
    const [, mode, , id] = /^:/.test(word) && index % 2 === 0 ? word.slice(1).split(" ") : [];
    return id && mode!.startsWith("100") ? [{ id, file: words[index + 1]! }] : [];
  });
  return {
    large,
    closed: [],
    *[Symbol.iterator]() {
      for (const { id, file } of staged) {
        const size = Number(requireGit(["cat-file", "-s", id]).toString());
        if (size > LARGEST) large.push(file);
        else yield* asSource(file, requireGit(["cat-file", "blob", id]));
      }
    },
  };
}

/** @param closed gets the folders that cannot be read */
function* walk(folder: string, closed: string[]): Generator<string> {
  for (const entry of entriesOf(folder, closed)) {
    if (LEFT_OUT.has(entry.name)) continue;
    const path = folder === "." ? entry.name : join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(path, closed);
    else if (entry.isFile()) yield path;
  }
}

function entriesOf(folder: string, closed: string[]): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (isClosed(error)) closed.push(withSlashes(folder));
    return []; // or it has gone meanwhile
  }
}

function filesOf(list: (closed: string[]) => Iterable<string>): Sources {
  const large: string[] = [];
  const closed: string[] = [];
  return {
    large,
    closed,
    *[Symbol.iterator]() {
      for (const path of list(closed)) {
        const file = withSlashes(path);
        const bytes = readRegular(path);
        if (bytes === "large") large.push(file);
        else if (bytes === "closed") closed.push(file);
        else if (bytes) yield* asSource(file, bytes);
      }
    },
  };
}

function withSlashes(path: string): string {
  return path.replaceAll("\\", "/");
}

function isClosed(error: unknown): boolean {
  return ["EACCES", "EPERM"].includes(errorCode(error) ?? "");
}

/** Undefined for what is not there, or no file. */
function readRegular(path: string): Uint8Array | "large" | "closed" | undefined {
  let file: number;
  try {
    // Never waits, should it be a pipe.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0));
  } catch (error) {
    return isClosed(error) ? "closed" : undefined;
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) return undefined;
    return stats.size > LARGEST ? "large" : readFileSync(file);
  } catch {
    return undefined;
  } finally {
    closeSync(file);
  }
}

function* asSource(file: string, bytes: Uint8Array): Generator<CheckedText> {
  const [, , encoding] = WIDE.find(([first, second]) => bytes[0] === first && bytes[1] === second) ?? [];
  if (encoding === undefined && bytes.subarray(0, 8000).includes(0)) return;
  yield { file, text: new TextDecoder(encoding).decode(bytes) };
}

/** What begins so is text with a NUL in most letters: PowerShell's ">" writes it. */
const WIDE = [
  [0xff, 0xfe, "utf-16le"],
  [0xfe, 0xff, "utf-16be"],
] as const;
