// The record: each path's state before the first call that mentioned it, and what calls did with it, in their order.
//
// Contract: what the tree has made itself is no input: from the moment on at which it is seen to have changed, what is read of it
// does not count. That a call was to change something is no proof that it did: the next call that mentions the path looks, and is
// told here after that. What was only looked at, and mentioned by nobody, is no part of it.
import type { IncompleteReason, StatPath, PathState, Trace, TracedPath } from "../contract/tracing.ts";
import { dirname } from "node:path";
import { isSame } from "../../files/path-state.ts";
import type { PathAccess } from "./access-kinds.ts";

export interface TraceEntry {
  readonly path: string;
  readonly first: PathState;
  /** As it was seen last. */
  now: PathState;
  isMentioned: boolean;
  isRead: boolean;
  isProbed: boolean;
  isWritten: boolean;
  isChangeObserved: boolean;
  /** Some call was to make it that may not have been carried out yet when the next one looked. */
  isAttempted: boolean;
  names?: readonly string[];
  /** Some call was to change it, whether it did or not. */
  isTouched?: boolean;
  isUnsteady?: boolean;
  unsteadyNames?: string[];
  walks?: string[];
  isListedAlone?: boolean;
}

const SET_ID = 0o6000;
const CHANGES: ReadonlySet<PathAccess> = new Set([
  "replace",
  "truncate",
  "create",
  "remove",
  "modify",
  "append",
]);

function endWalk(walk: readonly TraceEntry[]): void {
  const end = walk.at(-1)?.path;
  const isWalk = walk.length > 1;
  for (const entry of walk) {
    if (!isWalk || end === undefined) entry.isListedAlone = true;
    else if (!entry.walks?.includes(end)) (entry.walks ??= []).push(end);
  }
}

export class TraceBuilder {
  readonly #entries = new Map<string, TraceEntry>();
  /** Sockets that the tree has bound itself. */
  readonly #bound = new Set<string>();
  /** By the process: the folders that it lists one below the other, from `/` on. */
  readonly #walks = new Map<number, TraceEntry[]>();
  #doubt: { kind: IncompleteReason; detail: string; isVague: boolean } | undefined;

  /** The first counts. @param isVague whether a later one of its kind says more */
  doubt(kind: IncompleteReason, detail: string, isVague = false): void {
    if (!this.#doubt || (this.#doubt.isVague && kind === this.#doubt.kind && !isVague))
      this.#doubt = { kind, detail, isVague };
  }

  /** @param look tells how all of it is in the end; nobody asks where there is a doubt */
  finish(look: StatPath): Trace {
    for (const walk of this.#walks.values()) endWalk(walk);
    this.#walks.clear();
    const entries = [...this.#entries.values()].filter(({ isMentioned }) => isMentioned);
    if (this.#doubt) {
      const { kind, detail } = this.#doubt;
      return { paths: entries, doubt: { kind, detail } };
    }
    const paths: TracedPath[] = [];
    for (const entry of entries) {
      const last = look(entry.path);
      paths.push(
        isSame(last, entry.first)
          ? entry
          : { ...entry, last, isWritten: entry.isWritten || entry.isAttempted },
      );
    }
    return { paths };
  }

  /** How a path was seen last. */
  readonly lookBack: StatPath = (path) => this.#entries.get(path)!.now;

  /** A program of the tree has found another state there than the recorded one, and the tree has not changed it. */
  contradict(path: string): void {
    const entry = this.#entries.get(path);
    if (entry) entry.isUnsteady = true;
  }

  bind(path: string): void {
    this.#bound.add(path);
  }

  isBound(path: string): boolean {
    return this.#bound.has(path);
  }

  /** @param path absolute; no component in front of the last is a link */
  see(path: string, state: PathState): TraceEntry {
    let entry = this.#entries.get(path);
    if (!entry) {
      const isNot = {
        isMentioned: false,
        isRead: false,
        isProbed: false,
        isWritten: false,
        isChangeObserved: false,
        isAttempted: false,
      };
      entry = { path, first: state, now: state, ...isNot };
      this.#entries.set(path, entry);
    }
    if (entry.isMentioned && !entry.isTouched && !isSame(entry.now, state)) entry.isUnsteady = true;
    entry.now = state;
    return entry;
  }

  /** As `see`, for the first time in another step of the script: between two steps the tree changes nothing. */
  seeAgain(path: string, state: PathState): TraceEntry {
    const entry = this.#entries.get(path);
    if (entry?.isMentioned && !isSame(entry.now, state)) entry.isUnsteady = true;
    return this.see(path, state);
  }

  /** The names in a directory, sorted. They are compared with those of its first listing. */
  list(entry: TraceEntry, names: readonly string[]): void {
    if (!entry.names) {
      entry.names = names;
      return;
    }
    const [before, now] = [new Set(entry.names), new Set(names)];
    for (const name of before.symmetricDifference(now)) {
      const path = `${entry.path === "/" ? "" : entry.path}/${name.slice(1)}`;
      const child = this.#entries.get(path);
      const isOwn = child?.isWritten || child?.isChangeObserved || child?.isAttempted;
      if (!isOwn && !entry.unsteadyNames?.includes(path)) (entry.unsteadyNames ??= []).push(path);
    }
  }

  /** A program reads the names in a directory. A listing takes several calls. */
  noteListing(entry: TraceEntry, process: number): void {
    const walk = this.#walks.get(process) ?? [];
    const last = walk.at(-1);
    if (last === entry) return;
    const isNext = last !== undefined && walk[0]!.path === "/" && dirname(entry.path) === last.path;
    if (isNext) walk.push(entry);
    else {
      endWalk(walk);
      this.#walks.set(process, [entry]);
    }
  }

  /** A call is about to do that with what was just seen. */
  note(entry: TraceEntry, access: PathAccess): void {
    entry.isMentioned = true;
    if (CHANGES.has(access)) entry.isTouched = true;
    if (entry.isWritten && !entry.isChangeObserved) {
      // Whether it has been.
      if (isSame(entry.now, entry.first)) entry.isWritten = false;
      else entry.isChangeObserved = true;
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
