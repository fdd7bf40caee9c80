// A file of the project that is exchanged for another text: whole or not at all, with its permissions and owner.
//
// Invariants:
// - No link is followed on the way to the file: its target may belong to another project.
// - A pipe, a device, and a file with a second name, which would keep the old text, are refused.
// - If another program writes to the file between the read and the exchange, nothing is exchanged.
// - The new text is written beside the file, where no .gitignore may cover it. Ctrl-C and TERM remove it. The next exchange
//   of the same file removes the draft of a killed process.
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

/** Bytes. */
const LARGEST = 1024 * 1024;
/** What `age` writes without --armor begins so. */
const BINARY_AGE = Buffer.from("age-encryption.org/v1\n");

export interface ProjectFile {
  /** As it was named. */
  readonly path: string;
  readonly text: string;
  /** Absent where there is no file yet. */
  readonly stats?: Stats;
}

/**
 * Throws WordsError; for a file that is not there, unless that `mayBeAbsent`.
 * @param base a folder that is named without links: the project's, by default that of the working directory
 */
export function readProjectFile(path: string, mayBeAbsent = false, base = projectFolder()): ProjectFile {
  const shown = printable(path);
  try {
    requireNoLink(path, base);
    const named = lstatSync(path);
    if (named.isSymbolicLink())
      throw new ArgumentError(
        `${shown} is a link, which rt does not follow`,
        "name the file that it leads to",
      );
    if (!named.isFile()) throw new ArgumentError(`${shown} is no regular file`);
    const { text, stats } = readWhole(path);
    if (stats.ino !== named.ino)
      throw new ArgumentError(`${shown} has been exchanged meanwhile`, "try again");
    if (stats.nlink > 1)
      throw new ArgumentError(
        `${shown} has another name (a hard link), which would keep what is in it`,
        "remove the other name first",
      );
    return { path, text, stats };
  } catch (error) {
    const { name, code } = error as NodeJS.ErrnoException;
    if (name === "WordsError") throw error;
    if (code === "ENOENT" && mayBeAbsent) return { path, text: "" };
    if (code === "ENOENT") throw new ArgumentError(`There is no ${shown}`);
    if (code === "ERR_ENCODING_INVALID_ENCODED_DATA")
      throw new ArgumentError(`${shown} could not be read (it is not text in UTF-8)`, "save it as UTF-8");
    throw new ArgumentError(`${shown} could not be read (${code})`);
  }
}

function projectFolder(): string {
  const here = realpathSync(".");
  return findRoot(here) ?? here;
}

/**
 * Looks at each folder on the way from the base to the file, up and down. A folder of the file system's root may be a link:
 * it is the system's, as /tmp of macOS is.
 */
function requireNoLink(path: string, base: string): void {
  const way = relative(base, resolve(path));
  if (isAbsolute(way)) return; // another drive
  let folder = base;
  for (const name of way.split(sep).slice(0, -1)) {
    const above = folder;
    folder = join(folder, name);
    if (name === ".." || (above === parse(above).root && above !== base)) continue;
    if (lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink())
      throw new ArgumentError(
        `${printable(path)} is behind a link, "${printable(relative(base, folder))}", which rt does not follow`,
        "name the file by the folder that the link leads to",
      );
  }
}

function readWhole(path: string): { text: string; stats: Stats } {
  // Never waits, should it have become a pipe by now.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0));
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new ArgumentError(`${printable(path)} is no regular file`);
    if (stats.size > LARGEST) throw new ArgumentError(`${printable(path)} is larger than 1 MiB`);
    const bytes = readFileSync(file);
    try {
      if (bytes.subarray(0, BINARY_AGE.length).equals(BINARY_AGE))
        throw new ArgumentError(
          `${printable(path)} is in the binary form of age`,
          "rt reads its text form: encrypt it with age --armor",
        );
      return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes), stats };
    } finally {
      bytes.fill(0);
    }
  } finally {
    closeSync(file);
  }
}

/** The new text, written beside the file and not yet in its place. */
export interface PendingFileEdit extends Disposable {
  readonly path: string;
  /** Throws WordsError, and the file is as somebody has left it. */
  putInPlace(): void;
}

/** Throws WordsError. What is not put in place is removed when this is disposed of. */
export function draftFile(file: ProjectFile, text: string): PendingFileEdit {
  removeLeftovers(file.path);
  const draft = `${file.path}.${process.pid}.rt`;
  let isThere = false;
  const remove = () => {
    if (isThere) rmSync(draft, { force: true });
    isThere = false;
  };
  const stopListening = onTermination(remove);
  const fail = (error: unknown): never => {
    const { name, code } = error as NodeJS.ErrnoException;
    remove();
    stopListening();
    if (name === "WordsError") throw error;
    throw new ArgumentError(`${printable(file.path)} could not be written (${code}), so it is as it was`);
  };
  try {
    const descriptor = openSync(draft, "wx", 0o600);
    isThere = true;
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
    putInPlace() {
      try {
        if (readProjectFile(file.path, file.stats === undefined).text !== file.text)
          throw new ArgumentError(
            `${printable(file.path)} has been changed meanwhile, so it is as it was`,
            "try again",
          );
        renameSync(draft, file.path);
        isThere = false;
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

/** Drafts of the same file by others that have ended. */
function removeLeftovers(path: string): void {
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
    return []; // what is wrong with it is said when it is written to
  }
}

/** So that the new name is there after a power cut, too; not every system has it. */
function syncDirectory(path: string): void {
  try {
    const directory = openSync(path, "r");
    try {
      fsyncSync(directory);
    } finally {
      closeSync(directory);
    }
  } catch {
    // the file itself is written
  }
}
