// Enumerates the texts that `rt secrets check` scans.
//
// Invariants:
// - Symbolic links are not followed. Binary files and non-regular files are skipped. node_modules and .git are not scanned.
// - Files over the size limit and unreadable paths are skipped and reported.
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
import { isCredentialFile } from "./context-rules.ts";
import type { CheckedText } from "./finding.ts";
import { runGit, requireGit, splitNames } from "./git.ts";

const MAX_SIZE = 1024 * 1024; // bytes
const SKIPPED_FOLDERS = new Set(["node_modules", ".git"]);

export interface Sources extends Iterable<CheckedText> {
  /** Files over the size limit that the iteration has skipped so far. */
  readonly large: readonly string[];
  /** Files and folders without read permission that the iteration has skipped so far. */
  readonly unreadable: readonly string[];
}

/** Returns tracked files and untracked credential files of the working directory; without git, all files. */
export function projectSources(): Sources {
  const tracked = runGit(["ls-files", "-z", "--cached"]);
  if (!tracked) return filesOf((unreadable) => walk(".", unreadable));
  const others = runGit(["ls-files", "-z", "--others", "--exclude=node_modules/"]) ?? Buffer.alloc(0);
  const names = new Set([...splitNames(tracked), ...splitNames(others).filter(isCredentialFile)]);
  return filesOf(() => names);
}

/** Returns the named files, and all files of named folders. @throws ArgumentError */
export function namedSources(paths: readonly string[]): Sources {
  const kinds = paths.map((path) => {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (!stats) throw new ArgumentError(`No such file or folder: ${printable(path)}`);
    return { path, isFolder: stats.isDirectory() };
  });
  return filesOf(function* (unreadable) {
    for (const { path, isFolder } of kinds)
      if (isFolder) yield* walk(path, unreadable);
      else yield path;
  });
}

/** Returns staged files with their staged content. @throws ArgumentError */
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
    unreadable: [],
    *[Symbol.iterator]() {
      for (const { id, file } of staged) {
        const size = Number(requireGit(["cat-file", "-s", id]).toString());
        if (size > MAX_SIZE) large.push(file);
        else yield* asSource(file, requireGit(["cat-file", "blob", id]));
      }
    },
  };
}

/** Lists the files below a folder. @param unreadable receives the folders without read permission */
function* walk(folder: string, unreadable: string[]): Generator<string> {
  for (const entry of entriesOf(folder, unreadable)) {
    if (SKIPPED_FOLDERS.has(entry.name)) continue;
    const path = folder === "." ? entry.name : join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(path, unreadable);
    else if (entry.isFile()) yield path;
  }
}

function entriesOf(folder: string, unreadable: string[]): Dirent[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    // Each file system has another order.
    return entries.sort((one, other) => (one.name < other.name ? -1 : 1));
  } catch (error) {
    if (isPermissionError(error)) unreadable.push(withSlashes(folder));
    return []; // also for a folder that was removed since
  }
}

function filesOf(list: (unreadable: string[]) => Iterable<string>): Sources {
  const large: string[] = [];
  const unreadable: string[] = [];
  return {
    large,
    unreadable,
    *[Symbol.iterator]() {
      for (const path of list(unreadable)) {
        const file = withSlashes(path);
        const bytes = readRegular(path);
        if (bytes === "large") large.push(file);
        else if (bytes === "unreadable") unreadable.push(file);
        else if (bytes) yield* asSource(file, bytes);
      }
    },
  };
}

function withSlashes(path: string): string {
  return path.replaceAll("\\", "/");
}

function isPermissionError(error: unknown): boolean {
  return ["EACCES", "EPERM"].includes(errorCode(error) ?? "");
}

/** Returns undefined for a missing or non-regular file. */
function readRegular(path: string): Uint8Array | "large" | "unreadable" | undefined {
  let file: number;
  try {
    // O_NONBLOCK: opening a pipe must not block.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0));
  } catch (error) {
    return isPermissionError(error) ? "unreadable" : undefined;
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) return undefined;
    return stats.size > MAX_SIZE ? "large" : readFileSync(file);
  } catch {
    return undefined;
  } finally {
    closeSync(file);
  }
}

function* asSource(file: string, bytes: Uint8Array): Generator<CheckedText> {
  const [, , encoding] =
    UTF_16_MARKS.find(([first, second]) => bytes[0] === first && bytes[1] === second) ?? [];
  if (encoding === undefined && bytes.subarray(0, 8000).includes(0)) return;
  yield { file, text: new TextDecoder(encoding).decode(bytes) };
}

/** Byte order marks of UTF-16, which PowerShell's ">" writes. */
const UTF_16_MARKS = [
  [0xff, 0xfe, "utf-16le"],
  [0xfe, 0xff, "utf-16be"],
] as const;
