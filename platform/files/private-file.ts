// Creates files and directories that only this user can access, for content that other programs must find by a path.
//
// Invariants:
// - Other users can neither write nor replace them. A directory that is read-only, that others can change (XDG_RUNTIME_DIR after
//   `su`), or that belongs to another user is skipped in favour of the next one.
// - Files are named after a hash of their content and appear by atomic rename.
import { errorCode } from "../caught-error.ts";
import type { PathOwner } from "./contract/files.ts";
import { requireOwnedPath } from "./path-ownership.ts";
import { readOwner } from "./path-owner.ts";
import { host } from "../processes/process.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const isWindows = process.platform === "win32";
const SEPARATOR = isWindows ? "\\" : "/";

/** Fallback directories. */
const COMMON = isWindows ? [] : ["/tmp", "/var/tmp", "/dev/shm"];

/** No directory could be used. The message has the reason for the first one. */
export class PrivateDirectoryError extends Error {
  override readonly name = "PrivateDirectoryError";
  readonly hint = "set TMPDIR to a directory that can be written to";
}

/**
 * Calls `use` with the first usable directory of this name, which is created if absent, and returns its result.
 *
 * @throws PrivateDirectoryError
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
      const directory = `${isWindows ? place : requireOwnedPath(place, trustedOwners(place))}${SEPARATOR}${name}`;
      makePrivate(directory);
      return use(directory);
    } catch (error) {
      failures.push(explain(error as NodeJS.ErrnoException, place));
    }
  }
  throw new PrivateDirectoryError(`Cannot create a private directory: ${failures[0]}`);
}

/**
 * Returns the trusted owners of a directory's parents. The owner of "/" is trusted, except for directories from the environment: in a
 * user namespace without root all foreign files seem to have one owner.
 */
function trustedOwners(place: string): number[] {
  const own = process.getuid!();
  return COMMON.includes(place) ? [own, readOwner("/")!.uid] : [own];
}

/** Creates a directory in an existing one, or checks it. @throws an Error of the system, or with a sentence as its message */
export function makePrivate(directory: string): void {
  const { uid, mode } = readOwner(directory) ?? make(directory);
  if (isWindows) return;
  if (uid !== process.getuid!() || (mode & 0o022) !== 0)
    throw new Error(`${directory} is writable by other users`);
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

/** Maximum length of a socket path, slightly below every system's limit. */
const MAX_SOCKET_PATH = 96;

/**
 * Returns an unused path for a Unix socket that only this user can reach. `name` ends with the process id and a suffix, as in
 * `debug-123-ab`. Returns undefined on Windows, where the engine has no Unix sockets.
 *
 * @throws PrivateDirectoryError
 */
export function privateSocketPath(name: string): string | undefined {
  if (isWindows) return undefined;
  return inPrivateDirectory(`rt-files-${process.getuid!()}`, (directory) => {
    const path = `${directory}${SEPARATOR}${name}.sock`;
    if (path.length > MAX_SOCKET_PATH) throw new Error(`${directory} has too long a name for a socket`);
    const { accessSync, constants } = process.getBuiltinModule("node:fs");
    // The directory may exist on a file system that is read-only now, such as a container image.
    accessSync(directory, constants.W_OK | constants.X_OK);
    return path;
  });
}

/** Writes a file unless one with the same content exists, and returns its path. @throws PrivateDirectoryError */
export function writePrivateFile(name: string, extension: string, content: string | Uint8Array): string {
  const hash = new Bun.CryptoHasher("sha256").update(content).digest("hex").slice(0, 32);
  return ensurePrivateFile(`${name}-${hash}.${extension}`, () => content);
}

/**
 * As `writePrivateFile`, if the name already identifies the content: `content` is called only if the file must be written.
 *
 * @throws PrivateDirectoryError
 */
export function ensurePrivateFile(name: string, content: () => string | Uint8Array): string {
  return inPrivateDirectory(`rt-files-${process.getuid?.() ?? 0}`, (directory) => {
    const path = `${directory}${SEPARATOR}${name}`;
    if (readOwner(path)) return path;
    const { renameSync, rmSync, writeFileSync } = process.getBuiltinModule("node:fs");
    // Atomic rename: another rt may be writing the same file (race).
    const draft = `${path}.${process.pid}`;
    try {
      writeFileSync(draft, content(), { mode: 0o600 });
      renameSync(draft, path);
    } catch (error) {
      // A partial file would keep a full disk full.
      rmSync(draft, { force: true });
      throw error;
    }
    return path;
  });
}
