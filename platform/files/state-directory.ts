// The directory of this user's own in which rt keeps what it has to remember, and its files.
//
// Contract: what is read there this user has written. A file counts only if it is this user's, as the directories are from
// the one that the environment names down to it, and nobody else may write to them; a file is there whole or not at all.
// Windows keeps each user's files apart by itself.
//
// Surprising: a group may write to what lies above rt's own directory if it is the user's own group, as it is where each
// user has one and what is made is open to it.
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

/** Below it is rt's own: a variable, and what follows it. */
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

/** Files of one kind. */
export interface OwnFiles {
  /** Absolute. */
  readonly directory: string;
  /** A file's content; undefined where it is not there, or is not this user's alone. */
  read(name: string): string | undefined;
  /** Their names, in order. */
  list(): string[];
  /** Makes the directory where it is not there. Throws an Error, of the system's or with a sentence. */
  write(name: string, content: string): void;
  remove(name: string): void;
}

/** Undefined where the environment names no home. */
export function openOwnFiles(kind: string): OwnFiles | undefined {
  const place = findPlace();
  if (!place) return undefined;
  const directory = join(place.base, ...place.below, "rt", kind);
  return {
    directory,
    read(name) {
      try {
        requireOwnPlace(place, directory);
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
      // Before as well: nothing is made where a link of rt's own name leads to.
      requireOwnPlace(place, directory, true);
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      requireOwnPlace(place, directory);
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
 * @param mayBeAbsent what has still to be made, from some directory down, is passed over
 *
 * Throws an Error, of the system's or with a sentence.
 */
function requireOwnPlace({ base, below }: StateLocation, directory: string, mayBeAbsent = false): void {
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
    if (uid !== process.getuid!() || isOpen) throw new Error(`${above} can be changed by other users`);
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
    throw new Error(`${path} can be changed by other users`);
}
