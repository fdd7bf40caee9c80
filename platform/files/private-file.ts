// Files and directories of the user's own, for the little that other programs must find by a path.
//
// Contract: what lies there nobody else can write or exchange. A place that cannot be written to (a container's
// read-only file system), that somebody else can change (XDG_RUNTIME_DIR of the user one was before `su`), or where
// somebody else has a directory of that name, is passed over for the next. Files are named after their content.
import { errorCode } from "../caught-error.ts";
import type { PathOwner } from "./contract/files.ts";
import { requireOwnedPath } from "./path-ownership.ts";
import { readOwner } from "./path-owner.ts";
import { host } from "../processes/process.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const isWindows = process.platform === "win32";
const SEPARATOR = isWindows ? "\\" : "/";

/** Where every system of the kind has one, should the environment name none that can be used. */
const COMMON = isWindows ? [] : ["/tmp", "/var/tmp", "/dev/shm"];

/** No place has taken a file: one line that says why not the first, one that says what to do. */
export class PrivateDirectoryError extends Error {
  override readonly name = "PrivateDirectoryError";
  readonly hint = "set TMPDIR to a directory that can be written to";
}

/**
 * What `use` makes of the first directory of this name in which it succeeds; it is made where it is not there.
 * Throws PrivateDirectoryError.
 */
export function inPrivateDirectory<Result>(name: string, use: (directory: string) => Result): Result {
  const failures: string[] = [];
  const temporary = temporaryDirectory();
  for (const place of new Set([
    host.originalVariable("XDG_RUNTIME_DIR") || temporary,
    temporary,
    ...COMMON,
  ])) {
    try {
      const directory = `${isWindows ? place : requireOwnedPath(place, usersFor(place))}${SEPARATOR}${name}`;
      makePrivate(directory);
      return use(directory);
    } catch (error) {
      failures.push(explain(error as NodeJS.ErrnoException, place));
    }
  }
  throw new PrivateDirectoryError(`There is no place for files of rt's own: ${failures[0]}`);
}

/**
 * Who may have what a place is in. Who has "/" has everything; but in a sandbox where root is no user, it looks as if all
 * others were that one, so what the environment names has to be ours there.
 */
function usersFor(place: string): number[] {
  const own = process.getuid!();
  return COMMON.includes(place) ? [own, readOwner("/")!.uid] : [own];
}

/** In a directory that is there. Throws an Error, of the system's or with a sentence. */
export function makePrivate(directory: string): void {
  const { uid, mode } = readOwner(directory) ?? make(directory);
  if (isWindows) return;
  if (uid !== process.getuid!() || (mode & 0o022) !== 0)
    throw new Error(`${directory} can be changed by other users`);
}

function make(directory: string): PathOwner {
  try {
    process.getBuiltinModule("node:fs").mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
  return readOwner(directory)!;
}

function explain({ code, message }: NodeJS.ErrnoException, place: string): string {
  return code === undefined ? message : `${place} (${code})`;
}

/** What the name of a socket may be long at most, a little less than any system's limit. */
const LONGEST_SOCKET = 96;

/**
 * A path at which nothing is yet and a socket can be that nobody else reaches, for a name that ends with this process's number
 * and something more, as in `debug-123-ab`; undefined on Windows, where the engine makes
 * none. Throws PrivateDirectoryError.
 */
export function privateSocketPath(name: string): string | undefined {
  if (isWindows) return undefined;
  return inPrivateDirectory(`rt-files-${process.getuid!()}`, (directory) => {
    const path = `${directory}${SEPARATOR}${name}.sock`;
    if (path.length > LONGEST_SOCKET) throw new Error(`${directory} has too long a name for a socket`);
    const { accessSync, constants } = process.getBuiltinModule("node:fs");
    // It may have been there before the file system became read-only, as that of a container's image has.
    accessSync(directory, constants.W_OK | constants.X_OK);
    return path;
  });
}

/** Writes a file, unless one of the same content is there, and answers its path. Throws PrivateDirectoryError. */
export function writePrivateFile(name: string, extension: string, content: string | Uint8Array): string {
  const hash = new Bun.CryptoHasher("sha256").update(content).digest("hex").slice(0, 32);
  return ensurePrivateFile(`${name}-${hash}.${extension}`, () => content);
}

/**
 * The same where the name is known already, which says what the content is: that is asked for where it has to be written.
 * Throws PrivateDirectoryError.
 */
export function ensurePrivateFile(name: string, content: () => string | Uint8Array): string {
  return inPrivateDirectory(`rt-files-${process.getuid?.() ?? 0}`, (directory) => {
    const path = `${directory}${SEPARATOR}${name}`;
    if (readOwner(path)) return path;
    const { renameSync, rmSync, writeFileSync } = process.getBuiltinModule("node:fs");
    // Renamed into place: another rt may be writing the same file.
    const draft = `${path}.${process.pid}`;
    try {
      writeFileSync(draft, content(), { mode: 0o600 });
      renameSync(draft, path);
    } catch (error) {
      // Half a file on a full disk would keep it full.
      rmSync(draft, { force: true });
      throw error;
    }
    return path;
  });
}
