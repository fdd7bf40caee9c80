// Replaces the text of a project file atomically: writes a temporary file beside it, then renames. Keeps permissions and owner.
//
// Invariants:
// - No symbolic link between the project folder and the file is followed: its target may belong to another project.
// - Pipes, devices and files with a second hard link are rejected. The second name would keep the old text.
// - The text is compared again before the rename. If another program changed it since the read, nothing is replaced. A write
//   between that comparison and the rename is lost (TOCTOU).
// - SIGINT and SIGTERM remove the temporary file. The next edit of the same file removes those of killed processes.
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from "node:fs";
import { basename, dirname, isAbsolute, join, parse, relative, resolve, sep } from "node:path";
import { onTermination } from "../../platform/processes/termination-hook.ts";
import { findRoot } from "../config/root-project.ts";
import { printable } from "../printable.ts";
import { isPidInUse } from "../process-id.ts";
import { ArgumentError } from "./command-arguments.ts";

const MAX_SIZE = 1024 * 1024; // bytes
/** The first bytes of a file that `age` encrypted without --armor. */
const BINARY_AGE = Buffer.from("age-encryption.org/v1\n");

export interface ProjectFile {
  /** The path as the caller passed it. */
  readonly path: string;
  readonly text: string;
  /** Undefined if the file does not exist. */
  readonly stats?: Stats;
}

/**
 * Reads a file of at most 1 MiB.
 * @param mayBeAbsent returns an empty text for a missing file instead of throwing
 * @param base a real path; symbolic links below it are rejected (default: the root folder of the current project)
 * @throws ArgumentError
 */
export function readProjectFile(path: string, mayBeAbsent = false, base = projectFolder()): ProjectFile {
  const displayPath = printable(path);
  try {
    requireNoLink(path, base);
    const named = lstatSync(path);
    if (named.isSymbolicLink())
      throw new ArgumentError(
        `${displayPath} is a link, which rt does not follow`,
        "use the path of its target",
      );
    if (!named.isFile()) throw new ArgumentError(`${displayPath} is not a regular file`);
    const { text, stats } = readWhole(path);
    if (stats.ino !== named.ino)
      throw new ArgumentError(`${displayPath} was replaced by another process`, "try again");
    if (stats.nlink > 1)
      throw new ArgumentError(
        `${displayPath} has another hard link, which would keep the old content`,
        "remove the other hard link first",
      );
    return { path, text, stats };
  } catch (error) {
    const { name, code } = error as NodeJS.ErrnoException;
    if (name === "ArgumentError") throw error;
    if (code === "ENOENT" && mayBeAbsent) return { path, text: "" };
    if (code === "ENOENT") throw new ArgumentError(`No such file: ${displayPath}`);
    if (code === "ERR_ENCODING_INVALID_ENCODED_DATA")
      throw new ArgumentError(
        `${displayPath} could not be read (it is not text in UTF-8)`,
        "save it as UTF-8",
      );
    throw new ArgumentError(`${displayPath} could not be read (${code})`);
  }
}

function projectFolder(): string {
  const here = realpathSync(".");
  return findRoot(here) ?? here;
}

/**
 * Rejects a symbolic link among the folders between the base and the file. A link directly in the file system's root is
 * accepted, because the system created it (/tmp on macOS).
 */
function requireNoLink(path: string, base: string): void {
  const relativePath = relative(base, resolve(path));
  if (isAbsolute(relativePath)) return; // another drive
  let folder = base;
  for (const name of relativePath.split(sep).slice(0, -1)) {
    const parent = folder;
    folder = join(folder, name);
    if (name === ".." || (parent === parse(parent).root && parent !== base)) continue;
    if (lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink())
      throw new ArgumentError(
        `${printable(path)} is behind a link, "${printable(relative(base, folder))}", which rt does not follow`,
        "use the path below the link's target",
      );
  }
}

function readWhole(path: string): { text: string; stats: Stats } {
  // O_NONBLOCK: another process may have replaced the file with a pipe since lstat.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0));
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new ArgumentError(`${printable(path)} is not a regular file`);
    if (stats.size > MAX_SIZE) throw new ArgumentError(`${printable(path)} is larger than 1 MiB`);
    const bytes = readFileSync(file);
    try {
      if (bytes.subarray(0, BINARY_AGE.length).equals(BINARY_AGE))
        throw new ArgumentError(`${printable(path)} is a binary age file`, "encrypt it with age --armor");
      return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes), stats };
    } finally {
      bytes.fill(0);
    }
  } finally {
    closeSync(file);
  }
}

/** A temporary file that holds the new text. Disposing removes it, unless `commit` has renamed it. */
export interface PendingFileEdit extends Disposable {
  readonly path: string;
  /** Renames the temporary file over the file. @throws ArgumentError if the file has changed or cannot be replaced */
  commit(): void;
}

/** Writes the new text to a temporary file beside the file. @throws ArgumentError */
export function draftFile(file: ProjectFile, text: string): PendingFileEdit {
  removeStaleDrafts(file.path);
  const draft = `${file.path}.${process.pid}.rt`;
  let exists = false;
  const remove = () => {
    if (exists) rmSync(draft, { force: true });
    exists = false;
  };
  const stopListening = onTermination(remove);
  const fail = (error: unknown): never => {
    const { name, code } = error as NodeJS.ErrnoException;
    remove();
    stopListening();
    if (name === "ArgumentError") throw error;
    throw new ArgumentError(`Cannot write ${printable(file.path)} (${code}); the file is unchanged`);
  };
  try {
    const descriptor = openSync(draft, "wx", 0o600);
    exists = true;
    try {
      writeFileSync(descriptor, text);
      fsyncSync(descriptor);
      const own = fstatSync(descriptor);
      const { stats } = file;
      if (stats && (stats.uid !== own.uid || stats.gid !== own.gid)) chownSync(draft, stats.uid, stats.gid);
    } finally {
      closeSync(descriptor);
    }
    chmodSync(draft, file.stats ? file.stats.mode & 0o7777 : 0o644);
  } catch (error) {
    fail(error);
  }
  return {
    path: draft,
    commit() {
      try {
        if (readProjectFile(file.path, file.stats === undefined).text !== file.text)
          throw new ArgumentError(
            `${printable(file.path)} was changed by another process, so rt did not replace it`,
            "try again",
          );
        renameSync(draft, file.path);
        exists = false;
        stopListening();
        syncDirectory(dirname(file.path));
      } catch (error) {
        fail(error);
      }
    },
    [Symbol.dispose]() {
      remove();
      stopListening();
    },
  };
}

/** Removes temporary files that ended processes left for the same file. */
function removeStaleDrafts(path: string): void {
  const folder = dirname(path);
  const start = `${basename(path)}.`;
  for (const name of namesIn(folder)) {
    const [, pid] = (name.startsWith(start) && /^(\d+)\.rt$/.exec(name.slice(start.length))) || [];
    if (pid !== undefined && !isPidInUse(Number(pid))) rmSync(join(folder, name), { force: true });
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // the write that follows reports the error
  }
}

/** Makes the rename survive a power failure, on systems that can fsync a directory. */
function syncDirectory(path: string): void {
  try {
    const directory = openSync(path, "r");
    try {
      fsyncSync(directory);
    } finally {
      closeSync(directory);
    }
  } catch {
    // the file itself has been fsynced
  }
}
