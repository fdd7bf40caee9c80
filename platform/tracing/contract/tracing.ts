// The contract of tracing: finds the files that a script depends on. A trace contains every path that a process tree accessed, in
// its state before the first call that mentioned it.
//
// Invariants:
// - A trace without an incomplete reason is complete. Network, foreign system calls, unreadable memory and background processes
//   set an incomplete reason, because the tracer cannot follow them.
// - Tracing never changes how the script runs.
import type { Child, ChildRequest } from "../../processes/contract/process-tree.ts";

/** The state of a path. Symlinks are not followed: the target is a separate path. */
export type PathState =
  /** The error code: ENOENT, EACCES, ... */
  | { readonly kind: "absent"; readonly code: string }
  | {
      readonly kind: "file";
      /** Stat fingerprint: device, inode, size, mtime and ctime in nanoseconds, number of hard links. */
      readonly stamp: string;
      readonly size: number;
      /** Permission bits. */
      readonly mode: number;
      /** Racy timestamp: a later change might leave the same fingerprint. */
      readonly isFresh: boolean;
    }
  | { readonly kind: "directory"; readonly mode: number }
  | { readonly kind: "link"; readonly target: string }
  /** A pipe, a socket, a device. */
  | { readonly kind: "other" };

export interface TracedPath {
  /** Absolute; no component before the last is a symlink. */
  readonly path: string;
  /** State before the first call that mentioned the path. */
  readonly first: PathState;
  /** State after the process tree has ended, if it differs. */
  readonly last?: PathState;
  /** The tree read or executed the content, or kept a part of it, before it replaced the content. */
  readonly isRead: boolean;
  /** The tree observed the existence, kind or size. */
  readonly isProbed: boolean;
  /** A call tried to change the path; the states show whether it succeeded. */
  readonly isWritten: boolean;
  /** The path was seen to change while the tree ran. */
  readonly isChangeObserved: boolean;
  /** The first directory listing, sorted: a kind letter and the name. */
  readonly names?: readonly string[];
  /** Another program changed the path between two calls of the tree, even if the last state equals the first. */
  readonly isUnsteady?: boolean;
  /**
   * The last directory of each walk in which this one was listed: one process listed `/`, then a directory in it, and so
   * on. Module resolvers do so.
   */
  readonly walks?: readonly string[];
  /** Listed outside of such walks too. */
  readonly isListedAlone?: boolean;
  /** Paths in the directory that another program added or removed between two listings. */
  readonly unsteadyNames?: readonly string[];
  readonly uses?: PathUses;
}

export interface TracedProcess {
  readonly pid: number;
  readonly program: string;
}

/** The first process that tried to use a path in each way. The path existed, unless the use creates it. */
export interface PathUses {
  /** Opened for reading, listed or executed. */
  read?: TracedProcess;
  /** Created, changed or replaced. */
  write?: TracedProcess;
  /** Removed or moved, so that the folder above is changed. */
  remove?: TracedProcess;
}

export interface TracedConnection {
  readonly process: TracedProcess;
  readonly kind: "host" | "socket" | "abstract";
  /** `address:port`, `name:port` if the name of the host is known, or the path or name of a Unix socket. */
  readonly target: string;
}

export type IncompleteReason =
  | "network"
  | "socket"
  | "memory"
  | "foreign-call"
  | "mount"
  | "shared-memory"
  | "descriptor-program"
  | "privileged-program"
  | "unknown-format"
  | "name"
  | "moved"
  | "survivor"
  | "lost"
  | "supervisor";

export interface Trace {
  readonly paths: readonly TracedPath[];
  readonly incompleteReason?: { readonly kind: IncompleteReason; readonly detail: string };
  /** `thread access path` of each call, if `keepsCalls` is set. */
  readonly calls?: readonly string[];
  /** Each target once, except sockets that the tree has bound itself. */
  readonly connections?: readonly TracedConnection[];
}

/** The system could not create the supervisor thread. The script was not started. */
export class NoThreadError extends Error {
  constructor() {
    super("The tracer thread cannot be created");
  }
}

export interface Tracer {
  /**
   * Starts a program and traces its process tree, with empty standard input. Only one program may run at a time; all programs
   * share one trace. `isTraced` resolves when the child has exited; if it is false, the program was not started.
   *
   * @throws NoThreadError, or the system's error with its `code`: EACCES, EPERM or ENOENT if the launcher cannot be executed
   */
  start(
    request: Omit<ChildRequest, "inheritStdin" | "descriptors">,
  ): Child & { readonly isTraced: Promise<boolean> };
  /** Returns the trace of all started programs and ends the tracer. */
  finish(): Promise<Trace>;
}

export interface TracingOptions {
  /** rt's executable, also used for the background supervisor. */
  readonly program: string;
  readonly keepsCalls?: boolean;
  /** Adds `uses` and `connections` to the trace. */
  readonly namesProcesses?: boolean;
}

export interface TracingOperations {
  /** @throws as `start` */
  openTracer(options: TracingOptions): Tracer;
}

export type StatPath = (path: string) => PathState;

/** Returns names as in `TracedPath.names`; null if the directory cannot be listed. */
export type ListDirectory = (path: string) => readonly string[] | null;

/** argv[0] of rt as a helper process of the tracer. Its arguments are not the user's. */
export const TRACED_NAME = "rt-traced";
