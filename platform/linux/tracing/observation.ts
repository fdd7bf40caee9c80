// The record: each path's state before the first call that mentioned it, and what calls did with it, in their order.
//
// Contract: a link on the way is a path of its own, and so is each directory that was gone through; of what stands behind
// a component that is not there, that component says all. What the tree has made itself is no input: from the moment on
// at which it is seen to have changed, what is read of it does not count. That a call was to change something is no proof
// that it did: the next call that mentions the path looks.
//
// Surprising: /proc and /sys are not recorded, nor is /dev but for /dev/shm. Links of /proc into the caller's own
// descriptors and directories are followed as the caller would. What a path is, is asked of what was seen before the call went
// on (sight.ts): ../native/recorder/sight.h goes the same ways, so that whoever changes one of
// them here changes it there.
import type { Doubt, Look, PathState, Trace, TracedPath } from "../../contract/tracing.ts";
import type { Access } from "./calls.ts";
import { isSame } from "../../path-state.ts";
import { hasForeignFormats, interpreterOf } from "./interpreter.ts";
import type { Sight } from "./sight.ts";

/** Where a path leads. */
interface Found {
  readonly path: string;
  /** False where it ends at something that is no directory, or not there. */
  readonly isWhole: boolean;
  /** What stood there a moment ago; absent where nobody has looked. */
  readonly state?: PathState;
}

interface Entry {
  readonly path: string;
  readonly first: PathState;
  isRead: boolean;
  isProbed: boolean;
  isWritten: boolean;
  isConfirmed: boolean;
  names?: readonly string[];
}

const MOST_LINKS = 40;
/** More the kernel does not go through. */
const MOST_INTERPRETERS = 5;
/** `/proc/self/fd/3/x`: whose, which, and the rest. */
const OWN_LINK = /^\/proc\/(self|thread-self|\d+)(?:\/task\/\d+)?\/(fd\/\d+|cwd|root|exe)(\/.*)?$/;
const SET_ID = 0o6000;

export class Observation {
  readonly #sight: Sight;
  readonly #entries = new Map<string, Entry>();
  /** Seen to be directories, and no links, since something was last moved or removed. */
  readonly #directories = new Set<string>();
  /** Of directories, as callers name them, where those are: as long as `#directories` holds. */
  readonly #parents = new Map<string, string>();
  /** Sockets that the tree has bound itself. */
  readonly #bound = new Set<string>();
  #interpreters = 0;
  #doubt: { kind: Doubt; detail: string; isVague: boolean } | undefined;

  constructor(sight: Sight) {
    this.#sight = sight;
  }

  /** The first counts. @param isVague whether a later one of its kind says more */
  doubt(kind: Doubt, detail: string, isVague = false): void {
    if (!this.#doubt || (this.#doubt.isVague && kind === this.#doubt.kind && !isVague))
      this.#doubt = { kind, detail, isVague };
  }

  /** @param look tells how all of it is in the end; nobody asks where there is a doubt */
  finish(look: Look): Trace {
    if (this.#doubt) {
      const { kind, detail } = this.#doubt;
      return { paths: [...this.#entries.values()], doubt: { kind, detail } };
    }
    const paths: TracedPath[] = [];
    for (const entry of this.#entries.values()) {
      const last = look(entry.path);
      paths.push(isSame(last, entry.first) ? entry : { ...entry, last });
    }
    return { paths };
  }

  bind(path: string): void {
    this.#bound.add(path);
  }

  isBound(path: string): boolean {
    return this.#bound.has(path);
  }

  /** @param path absolute, as the caller has it. @param pid of the caller */
  access(access: Access, path: string, follows: boolean, pid: number): void {
    const found = this.#resolve(path, follows, pid);
    if (!found) return;
    // Where a directory on the way is missing, whatever was to be done fails.
    this.#note(found.path, found.isWhole ? access : "probe", found.state);
    if (access === "run" && found.isWhole) this.#run(found.path, pid);
  }

  /** Before a rename: what stands below a directory is moved with it. */
  move(from: string, to: string, pid: number): void {
    const [source, target] = [this.#resolve(from, false, pid), this.#resolve(to, false, pid)];
    if (!source?.isWhole || !target) return;
    const state = this.#sight.look(source.path);
    this.#note(source.path, state.kind === "file" ? "modify" : "probe");
    if (state.kind === "directory" && target.isWhole) this.#moveBelow(source.path, target.path);
    this.#note(source.path, "remove");
    if (target.isWhole) this.#note(target.path, "replace");
  }

  #moveBelow(from: string, to: string): void {
    for (const name of this.#sight.list(from) ?? []) {
      const [source, target] = [`${from}/${name.slice(1)}`, `${to}/${name.slice(1)}`];
      this.#note(source, name[0] === "d" ? "probe" : "modify");
      if (name[0] === "d") this.#moveBelow(source, target);
      this.#note(source, "remove");
      this.#note(target, "replace");
    }
  }

  /** @param state what stands there, where somebody has just looked */
  #note(path: string, access: Access, state?: PathState): void {
    this.#change(this.#settled(path, state), access);
  }

  /** What is known of a path. */
  #settled(path: string, state?: PathState): Entry {
    let entry = this.#entries.get(path);
    if (!entry) {
      const first = state ?? this.#sight.look(path);
      entry = { path, first, isRead: false, isProbed: false, isWritten: false, isConfirmed: false };
      this.#entries.set(path, entry);
    }
    if (!entry.isWritten || entry.isConfirmed) return entry;
    // Whether it has been.
    if (isSame(this.#sight.look(path), entry.first)) entry.isWritten = false;
    else entry.isConfirmed = true;
    return entry;
  }

  #change(entry: Entry, access: Access): void {
    const isOwn = entry.isWritten;
    const isThere = entry.first.kind !== "absent";
    switch (access) {
      case "probe":
        if (!isOwn) entry.isProbed = true;
        return;
      case "run":
        if (!isOwn) entry.isRead = true;
        return;
      case "list":
        entry.names ??= this.#sight.list(entry.path) ?? [];
        if (!isOwn) entry.isProbed = true;
        return;
      case "create":
        if (!isOwn) entry.isProbed = true;
        if (!isOwn && isThere) return; // it fails
        break;
      case "truncate":
      case "remove":
      case "modify":
        if (!isOwn && !isThere) {
          entry.isProbed = true;
          return; // it fails
        }
        if (!isOwn && access === "modify") entry.isRead = true;
        break;
      case "append":
        if (!isOwn && isThere) entry.isRead = true;
        break;
      case "replace":
        break;
    }
    entry.isWritten = true;
    if (access !== "remove" && access !== "replace") return;
    this.#directories.clear();
    this.#parents.clear();
  }

  /** Contents read through an open descriptor. */
  read(path: string, follows: boolean, pid: number): void {
    const found = this.#resolve(path, follows, pid);
    if (!found) return;
    const entry = this.#settled(found.path, found.state);
    if (entry.isWritten) return;
    entry.isProbed = true;
    if (found.isWhole && entry.first.kind !== "directory") entry.isRead = true;
  }

  /** What the kernel opens by itself for a program: the interpreter of its #! line, and the loader. */
  #run(path: string, pid: number): void {
    const state = this.#entries.get(path)?.first;
    if (state?.kind === "file" && (state.mode & SET_ID) !== 0) this.doubt("privileged-program", path);
    const start = this.#sight.readStart(path);
    if (start === null) return;
    const interpreter = interpreterOf(start);
    if (interpreter === undefined) {
      if (hasForeignFormats()) this.doubt("unknown-format", path);
      return;
    }
    if (interpreter === "") return;
    // From the caller's directory, as the kernel has it.
    const base = interpreter.startsWith("/") ? "" : this.#sight.readLink(`/proc/${pid}/cwd`);
    if (base === undefined) return;
    if (++this.#interpreters <= MOST_INTERPRETERS)
      this.access("run", base === "" ? interpreter : `${base}/${interpreter}`, true, pid);
    this.#interpreters -= 1;
  }

  #resolve(given: string, follows: boolean, pid: number): Found | undefined {
    const cut = given.lastIndexOf("/");
    const parent = given.slice(0, cut);
    const known = this.#parents.get(parent);
    const found = known ? this.#resolveName(known, given.slice(cut + 1), follows) : undefined;
    return found ?? this.#resolveAll(given, parent, follows, pid);
  }

  /** The common case, in few steps: a name in a directory that is known. Undefined where it takes more of them. */
  #resolveName(at: string, name: string, follows: boolean): Found | undefined {
    if (at === "" || name === "" || name === "." || name === "..") return undefined;
    const path = `${at}/${name}`;
    if (this.#directories.has(path)) return { path, isWhole: true };
    const state = this.#stateOf(path);
    if (state.kind === "link" && follows) return undefined;
    if (state.kind === "directory") this.#directories.add(path);
    return { path, isWhole: true, state };
  }

  #resolveAll(given: string, parent: string, follows: boolean, pid: number): Found | undefined {
    const isDirectory = given.endsWith("/") || given.endsWith("/.");
    let rest = given.split("/");
    let at = "";
    let isParentNew = true;
    let links = 0;
    while (rest.length > 0) {
      const part = rest.shift()!;
      if (isParentNew && rest.length === 0) {
        this.#parents.set(parent, at);
        isParentNew = false;
      }
      if (part === "" || part === ".") continue;
      if (part === "..") {
        at = at.slice(0, Math.max(at.lastIndexOf("/"), 0));
        continue;
      }
      const next = `${at}/${part}`;
      const isLast = rest.every((each) => each === "" || each === ".");
      if (at === "" && (part === "proc" || part === "sys" || part === "dev")) {
        const special = specialPath(`${next}/${rest.join("/")}`, follows, pid, this.#sight);
        if (special === undefined) return undefined;
        isParentNew = false; // what is there is another thing for each process, or for each name
        if (special !== null) {
          if (++links > MOST_LINKS) return undefined;
          [rest, at] = [special.split("/"), ""];
          continue;
        }
      }
      if (this.#directories.has(next)) {
        at = next;
        continue;
      }
      const state = this.#stateOf(next);
      if (state.kind === "link" && (!isLast || follows || isDirectory)) {
        this.#note(next, "probe", state);
        if (++links > MOST_LINKS) return { path: next, isWhole: false, state };
        if (state.target.startsWith("/")) at = "";
        rest = [...state.target.split("/"), ...rest];
        continue;
      }
      if (state.kind === "directory") {
        if (!isLast) this.#note(next, "probe", state);
        this.#directories.add(next);
      } else if (!isLast) return { path: next, isWhole: false, state };
      if (isLast) return { path: next, isWhole: true, state };
      at = next;
    }
    return { path: at === "" ? "/" : at, isWhole: true };
  }

  /** What was seen of a path that nothing was to change does not change: at the end that is looked at again. */
  #stateOf(path: string): PathState {
    const entry = this.#entries.get(path);
    return entry && !entry.isWritten ? entry.first : this.#sight.look(path);
  }
}

/** Another path, for a link that means something else to each process; null for an ordinary one; undefined for none. */
function specialPath(
  path: string,
  follows: boolean,
  pid: number,
  { readLink }: Sight,
): string | null | undefined {
  if (path.startsWith("/dev/")) {
    const stream = ["stdin", "stdout", "stderr"].indexOf(path.slice(5));
    if (stream >= 0) return `/proc/self/fd/${stream}`;
    if (path.startsWith("/dev/fd/")) return `/proc/self/fd/${path.slice(8)}`;
    return path.startsWith("/dev/shm/") ? null : undefined;
  }
  const [, owner, link, rest = ""] = OWN_LINK.exec(path) ?? [];
  if (owner === undefined || (rest === "" && !follows)) return undefined;
  const target = readLink(`/proc/${/^\d/.test(owner) ? owner : pid}/${link}`);
  return target === undefined ? undefined : target + rest;
}
