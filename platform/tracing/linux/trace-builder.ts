// Builds the trace: each path's state before the first call that mentioned it, and the accesses to it in order.
//
// Invariants:
// - An output of the tree is not an input: after the path was seen to change, later reads do not count.
// - An attempt to change a path is not proof of a change. The state that the next call observes decides.
// - Paths that were observed but never accessed are not part of the trace.
import type {
  IncompleteReason,
  StatPath,
  PathState,
  PathUses,
  Trace,
  TracedConnection,
  TracedPath,
  TracedProcess,
} from "../contract/tracing.ts";
import { dirname } from "node:path";
import { isRelinked, isSame } from "../../files/path-state.ts";
import type { PathAccess } from "./access-kinds.ts";

export interface TraceEntry {
  readonly path: string;
  first: PathState;
  current: PathState;
  isAccessed: boolean;
  isRead: boolean;
  isProbed: boolean;
  isWritten: boolean;
  isChangeObserved: boolean;
  /** A call tried to create the path, and may not have completed when the next call observed it (race). */
  isAttempted: boolean;
  names?: readonly string[];
  /** A call tried to change the path. */
  isTouched?: boolean;
  isUnsteady?: boolean;
  unsteadyNames?: string[];
  walks?: string[];
  isListedAlone?: boolean;
  uses?: PathUses;
}

const SET_ID = 0o6000;
/** Walks of one process at the same time. */
const MAX_WALKS = 8;
const CHANGES: ReadonlySet<PathAccess> = new Set([
  "replace",
  "truncate",
  "create",
  "remove",
  "modify",
  "append",
]);

/** How an access uses a path in this state; undefined if it uses nothing, as a failing call does. */
function useOf(access: PathAccess, { kind }: PathState): keyof PathUses | undefined {
  const isThere = kind !== "absent";
  switch (access) {
    case "probe":
      return undefined;
    case "read":
    case "list":
    case "run":
      return isThere ? "read" : undefined;
    case "create":
      return isThere ? undefined : "write";
    case "remove":
      return isThere ? "remove" : undefined;
    case "truncate":
    case "modify":
      return isThere ? "write" : undefined;
    case "append":
    case "replace":
      return "write";
  }
}

function endWalk(walk: readonly TraceEntry[]): void {
  const end = walk.at(-1)?.path;
  const isWalk = walk.length > 1;
  for (const entry of walk) {
    if (!isWalk || end === undefined) entry.isListedAlone = true;
    else if (!entry.walks?.includes(end)) (entry.walks ??= []).push(end);
  }
}

/** A hard link that another program makes or removes changes the fingerprint of a file, but not what the tree has read. */
function acceptLinks(entry: TraceEntry, state: PathState): void {
  const { first, current } = entry;
  if (entry.isTouched || isSame(current, state) || !isSame(first, current)) return;
  if (first.kind !== "file" || state.kind !== "file" || !isRelinked(current, state)) return;
  // The content is as old as before, so the timestamp is not racy.
  entry.first = entry.current = { ...state, isFresh: first.isFresh };
}

export class TraceBuilder {
  readonly #entries = new Map<string, TraceEntry>();
  /** Paths of sockets that the tree has bound itself. */
  readonly #bound = new Set<string>();
  /** The first program that opened a TCP socket. */
  #streamOf: string | undefined;
  /** Whether the tree has connected to a server of its own. */
  #isOwnClient = false;
  /** By process id: the directories that its threads list in descending order, from `/`. */
  readonly #walks = new Map<number, TraceEntry[][]>();
  /** By target. */
  readonly #connections: Map<string, TracedConnection> | undefined;
  /** The process of the next records; undefined unless processes are named. */
  process: TracedProcess | undefined;
  #reason: { kind: IncompleteReason; detail: string; isVague: boolean } | undefined;

  constructor(namesProcesses = false) {
    this.#connections = namesProcesses ? new Map() : undefined;
  }

  addConnection(kind: TracedConnection["kind"], target: string): void {
    const key = `${kind} ${target}`;
    if (this.process && !this.#connections?.has(key))
      this.#connections?.set(key, { process: this.process, kind, target });
  }

  /** Only the first reason is kept. @param isVague lets a later reason of the same kind replace it, with more detail */
  addIncompleteReason(kind: IncompleteReason, detail: string, isVague = false): void {
    if (!this.#reason || (this.#reason.isVague && kind === this.#reason.kind && !isVague))
      this.#reason = { kind, detail, isVague };
  }

  noteStream(program: string): void {
    this.#streamOf ??= program;
  }

  noteOwnConnection(): void {
    this.#isOwnClient = true;
  }

  /** @param stat returns the final state of a path; not called if there is an incomplete reason */
  finish(stat: StatPath): Trace {
    for (const walks of this.#walks.values()) walks.forEach(endWalk);
    this.#walks.clear();
    // A server without a client in the tree serves other programs.
    if (this.#streamOf !== undefined && !this.#isOwnClient)
      this.addIncompleteReason("network", this.#streamOf, true);
    const entries = [...this.#entries.values()].filter(({ isAccessed }) => isAccessed);
    const connections = this.#connections && { connections: [...this.#connections.values()] };
    if (this.#reason) {
      const { kind, detail } = this.#reason;
      const paths = connections ? entries.map((entry) => ({ ...entry, last: entry.current })) : entries;
      return { paths, incompleteReason: { kind, detail }, ...connections };
    }
    const paths: TracedPath[] = [];
    for (const entry of entries) {
      const last = stat(entry.path);
      acceptLinks(entry, last);
      paths.push(
        isSame(last, entry.first)
          ? entry
          : { ...entry, last, isWritten: entry.isWritten || entry.isAttempted },
      );
    }
    return { paths, ...connections };
  }

  readonly lastState: StatPath = (path) => this.#entries.get(path)!.current;

  /** A process of the tree has observed another state than the recorder, and the tree has not changed the path. */
  markContradicted(path: string): void {
    const entry = this.#entries.get(path);
    if (entry) entry.isUnsteady = true;
  }

  addBoundSocket(path: string): void {
    this.#bound.add(path);
  }

  isBound(path: string): boolean {
    return this.#bound.has(path);
  }

  /** @param path absolute; no component before the last is a symlink */
  observe(path: string, state: PathState): TraceEntry {
    let entry = this.#entries.get(path);
    if (!entry) {
      const flags = {
        isAccessed: false,
        isRead: false,
        isProbed: false,
        isWritten: false,
        isChangeObserved: false,
        isAttempted: false,
      };
      entry = { path, first: state, current: state, ...flags };
      this.#entries.set(path, entry);
    }
    acceptLinks(entry, state);
    if (entry.isAccessed && !entry.isTouched && !isSame(entry.current, state)) entry.isUnsteady = true;
    entry.current = state;
    return entry;
  }

  /** As `observe`, for the first time in a later script step: the tree changes nothing between two steps. */
  observeInNextStep(path: string, state: PathState): TraceEntry {
    const entry = this.#entries.get(path);
    if (entry) acceptLinks(entry, state);
    if (entry?.isAccessed && !isSame(entry.current, state)) entry.isUnsteady = true;
    return this.observe(path, state);
  }

  /** Compares a directory listing, sorted, with the first one. */
  compareListing(entry: TraceEntry, names: readonly string[]): void {
    if (!entry.names) {
      entry.names = names;
      return;
    }
    const [before, after] = [new Set(entry.names), new Set(names)];
    for (const name of before.symmetricDifference(after)) {
      const path = `${entry.path === "/" ? "" : entry.path}/${name.slice(1)}`;
      const child = this.#entries.get(path);
      const isOutput = child?.isWritten || child?.isChangeObserved || child?.isAttempted;
      if (!isOutput && !entry.unsteadyNames?.includes(path)) (entry.unsteadyNames ??= []).push(path);
    }
  }

  /** Records that a process lists a directory. One listing takes several calls, and threads walk at the same time. */
  noteListing(entry: TraceEntry, process: number): void {
    const walks = this.#walks.get(process) ?? [];
    const above = dirname(entry.path);
    const walk = entry.path === "/" ? undefined : walks.find((each) => each.at(-1)!.path === above);
    if (walk) walk.push(entry);
    else if (walks.some((each) => each.at(-1) === entry)) return;
    else if (entry.path !== "/") endWalk([entry]);
    else {
      this.#walks.set(process, [...walks, [entry]]);
      if (walks.length >= MAX_WALKS) endWalk(this.#walks.get(process)!.shift()!);
    }
  }

  /** Records an access to a path that was just observed. */
  recordAccess(entry: TraceEntry, access: PathAccess): void {
    entry.isAccessed = true;
    if (this.process) {
      const use = useOf(access, entry.current);
      if (use) (entry.uses ??= {})[use] ??= this.process;
    }
    if (CHANGES.has(access)) entry.isTouched = true;
    if (entry.isWritten && !entry.isChangeObserved) {
      // Whether the path has changed.
      if (isSame(entry.current, entry.first)) entry.isWritten = false;
      else entry.isChangeObserved = true;
    }
    const isOutput = entry.isWritten;
    const existed = entry.first.kind !== "absent";
    switch (access) {
      case "probe":
      case "list":
        if (!isOutput) entry.isProbed = true;
        return;
      case "read":
        if (isOutput) return;
        entry.isProbed = true;
        if (entry.first.kind !== "directory") entry.isRead = true;
        return;
      case "run":
        if (!isOutput) entry.isRead = true;
        // The script may have made the program, or changed its mode.
        if (entry.current.kind === "file" && (entry.current.mode & SET_ID) !== 0)
          this.addIncompleteReason("privileged-program", entry.path);
        return;
      case "create":
        if (!isOutput) entry.isProbed = true;
        if (!isOutput && existed) return; // it fails
        break;
      case "truncate":
      case "remove":
      case "modify":
        if (!isOutput && !existed) {
          entry.isProbed = true;
          return; // it fails
        }
        if (!isOutput && access === "modify") entry.isRead = true;
        break;
      case "append":
        if (!isOutput && existed) entry.isRead = true;
        break;
      case "replace":
        break;
    }
    entry.isWritten = true;
    if (!existed) entry.isAttempted = true;
  }
}
