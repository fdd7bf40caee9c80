// Reads and writes rt's state files in the user's state directory.
//
// Invariants:
// - A file is read only if this user owns it and all directories below the environment's base, and no other user can write to
//   them.
// - A file appears by atomic rename. Windows separates the users' files.
//
// Non-obvious: the user's private group may write to the parents of rt's directory, as the umask of such systems allows it.
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { isAbsolute, join } from "node:path";
import { host } from "../processes/process.ts";

const WRITABLE_BY_GROUP = 0o020;
const WRITABLE_BY_ALL = 0o002;

/** `base` is a variable's value; `below` is rt's own part. */
interface StateLocation {
  readonly base: string;
  readonly below: readonly string[];
}

function findPlace(): StateLocation | undefined {
  const from = (name: string, ...below: string[]): StateLocation | undefined => {
    const base = host.originalVariable(name);
    return base && isAbsolute(base) ? { base, below } : undefined;
  };
  if (process.platform === "win32") return from("LOCALAPPDATA");
  if (process.platform === "darwin") return from("HOME", "Library", "Application Support");
  return from("XDG_STATE_HOME") ?? from("HOME", ".local", "state");
}

export interface StateFiles {
  /** Absolute path. */
  readonly directory: string;
  /** Returns the content; undefined if the file is absent or not private. */
  read(name: string): string | undefined;
  /** Returns the names, sorted. */
  list(): string[];
  /** Creates the directory if it is absent. @throws an Error of the system, or with a sentence as its message */
  write(name: string, content: string): void;
  remove(name: string): void;
}

/** Returns undefined if the environment names no home directory. */
export function stateDirectory(): string | undefined {
  const place = findPlace();
  return place && join(place.base, ...place.below, "rt");
}

/** Returns undefined if the environment names no home directory. */
export function openStateFiles(kind: string): StateFiles | undefined {
  const place = findPlace();
  if (!place) return undefined;
  const directory = join(stateDirectory()!, kind);
  return {
    directory,
    read(name) {
      try {
        requireOwnLocation(place, directory);
        const path = join(directory, name);
        requireOwn(path, lstatSync(path));
        return lstatSync(path).isFile() ? readFileSync(path, "utf8") : undefined;
      } catch {
        return undefined;
      }
    },
    list() {
      try {
        return readdirSync(directory).sort();
      } catch {
        return [];
      }
    },
    write(name, content) {
      // Checked before creation too: a symlink could redirect the new directories.
      requireOwnLocation(place, directory, true);
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      requireOwnLocation(place, directory);
      const draft = join(directory, `.${crypto.randomUUID()}`);
      try {
        writeFileSync(draft, content, { mode: 0o600, flag: "wx" });
        renameSync(draft, join(directory, name));
      } catch (error) {
        rmSync(draft, { force: true });
        throw error;
      }
    },
    remove: (name) => rmSync(join(directory, name), { force: true }),
  };
}

type DirectoryStatus = ReturnType<typeof lstatSync> & {};

/**
 * @param mayBeAbsent accepts missing directories at the end of the path
 * @throws an Error of the system, or with a sentence as its message
 */
function requireOwnLocation({ base, below }: StateLocation, directory: string, mayBeAbsent = false): void {
  if (process.platform === "win32") return;
  let above = base;
  for (const name of ["", ...below]) {
    above = join(above, name);
    const status = statSync(above, { throwIfNoEntry: !mayBeAbsent });
    if (!status) return;
    const { uid, gid, mode } = status;
    const isOpen =
      (Number(mode) & WRITABLE_BY_ALL) !== 0 ||
      ((Number(mode) & WRITABLE_BY_GROUP) !== 0 && gid !== process.getgid!());
    if (uid !== process.getuid!() || isOpen) throw new Error(`${above} is writable by other users`);
  }
  for (const own of [join(above, "rt"), directory]) {
    const status = lstatSync(own, { throwIfNoEntry: !mayBeAbsent });
    if (!status) return;
    if (!status.isDirectory()) throw new Error(`${own} is no directory`);
    requireOwn(own, status);
  }
}

function requireOwn(path: string, { uid, mode }: DirectoryStatus): void {
  if (process.platform === "win32") return;
  if (uid !== process.getuid!() || (Number(mode) & (WRITABLE_BY_GROUP | WRITABLE_BY_ALL)) !== 0)
    throw new Error(`${path} is writable by other users`);
}
