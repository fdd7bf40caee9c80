// The record: each path's state before the first call that mentioned it, and what calls did with it, in their order.
//
// Contract: what the tree has made itself is no input: from the moment on at which it is seen to have changed, what is read of it
// does not count. That a call was to change something is no proof that it did: the next call that mentions the path looks, and is
// told here after that. What was only looked at, and mentioned by nobody, is no part of it.
import type { Doubt, Look, PathState, Trace, TracedPath } from "../../contract/tracing.ts";
import { isSame } from "../../path-state.ts";
import type { Access } from "./access.ts";

export interface Entry {
  readonly path: string;
  readonly first: PathState;
  /** As it was seen last. */
  now: PathState;
  isMentioned: boolean;
  isRead: boolean;
  isProbed: boolean;
  isWritten: boolean;
  isConfirmed: boolean;
  /** Some call was to make it that may not have been carried out yet when the next one looked. */
  isAttempted: boolean;
  names?: readonly string[];
}

const SET_ID = 0o6000;

export class Observation {
  readonly #entries = new Map<string, Entry>();
  readonly #contradicted = new Set<string>();
  /** Sockets that the tree has bound itself. */
  readonly #bound = new Set<string>();
  #doubt: { kind: Doubt; detail: string; isVague: boolean } | undefined;

  /** The first counts. @param isVague whether a later one of its kind says more */
  doubt(kind: Doubt, detail: string, isVague = false): void {
    if (!this.#doubt || (this.#doubt.isVague && kind === this.#doubt.kind && !isVague))
      this.#doubt = { kind, detail, isVague };
  }

  /** @param look tells how all of it is in the end; nobody asks where there is a doubt */
  finish(look: Look): Trace {
    const entries = [...this.#entries.values()].filter(({ isMentioned }) => isMentioned);
    if (this.#doubt) {
      const { kind, detail } = this.#doubt;
      return { paths: entries, doubt: { kind, detail } };
    }
    const paths: TracedPath[] = [];
    for (const entry of entries) {
      const last = look(entry.path);
      const isKept = isSame(last, entry.first) && !this.#contradicted.has(entry.path);
      paths.push(isKept ? entry : { ...entry, last, isWritten: entry.isWritten || entry.isAttempted });
    }
    return { paths };
  }

  /** How a path was seen last. */
  readonly lookBack: Look = (path) => this.#entries.get(path)!.now;

  /** A program has found something else there than what was seen: it has been changed by nobody of the tree. */
  contradict(path: string): void {
    this.#contradicted.add(path);
  }

  bind(path: string): void {
    this.#bound.add(path);
  }

  isBound(path: string): boolean {
    return this.#bound.has(path);
  }

  /** @param path absolute; no component in front of the last is a link */
  see(path: string, state: PathState): Entry {
    let entry = this.#entries.get(path);
    if (!entry) {
      const isNot = {
        isMentioned: false,
        isRead: false,
        isProbed: false,
        isWritten: false,
        isConfirmed: false,
        isAttempted: false,
      };
      entry = { path, first: state, now: state, ...isNot };
      this.#entries.set(path, entry);
    }
    entry.now = state;
    return entry;
  }

  /** What stood in a directory; only the first time counts. */
  list(entry: Entry, names: readonly string[]): void {
    entry.names ??= names;
  }

  /** A call is about to do that with what was just seen. */
  note(entry: Entry, access: Access): void {
    entry.isMentioned = true;
    if (entry.isWritten && !entry.isConfirmed) {
      // Whether it has been.
      if (isSame(entry.now, entry.first)) entry.isWritten = false;
      else entry.isConfirmed = true;
    }
    const isOwn = entry.isWritten;
    const isThere = entry.first.kind !== "absent";
    switch (access) {
      case "probe":
      case "list":
        if (!isOwn) entry.isProbed = true;
        return;
      case "read":
        if (isOwn) return;
        entry.isProbed = true;
        if (entry.first.kind !== "directory") entry.isRead = true;
        return;
      case "run":
        if (!isOwn) entry.isRead = true;
        if (entry.first.kind === "file" && (entry.first.mode & SET_ID) !== 0)
          this.doubt("privileged-program", entry.path);
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
    if (!isThere) entry.isAttempted = true;
  }
}
