// What rt needs of an operating system to know which files a script depends on: every path that a process tree asks
// for, in the state that it had before the first call that mentioned it.
//
// Contract: a trace without a doubt is complete. What cannot be followed (the network, a foreign kind of system call, memory
// that cannot be read, a process that stays) is a doubt, never a gap. The scripts run on as they would have, whatever happens.
import type { Child, ChildRequest } from "../../processes/contract/process-tree.ts";

/** What a path was. Links are never followed: what they lead to is a path of its own. */
export type PathState =
  /** The system's code: ENOENT, EACCES, ... */
  | { readonly kind: "absent"; readonly code: string }
  | {
      readonly kind: "file";
      /** Device, inode, size, and both times to the nanosecond: another one is another content. */
      readonly stamp: string;
      readonly size: number;
      /** Permission bits. */
      readonly mode: number;
      /** Changed so shortly before it was looked at that a later change might have the same stamp. */
      readonly isFresh: boolean;
    }
  | { readonly kind: "directory"; readonly mode: number }
  | { readonly kind: "link"; readonly target: string }
  /** A pipe, a socket, a device. */
  | { readonly kind: "other" };

export interface TracedPath {
  /** Absolute; no component in front of the last is a link. */
  readonly path: string;
  /** Before the first call that mentioned it. */
  readonly first: PathState;
  /** After all had ended, where that is another one. */
  readonly last?: PathState;
  /** Its content went into the tree, or stays in what the tree made of it, before the tree had replaced it. */
  readonly isRead: boolean;
  /** Only looked at: whether it is there, how large it is. */
  readonly isProbed: boolean;
  /** Some call was to change it; whether it did, its state tells. */
  readonly isWritten: boolean;
  /** Seen to have been changed while the tree ran. */
  readonly isChangeObserved: boolean;
  /** At the first listing, sorted: a letter for the kind, and the name. */
  readonly names?: readonly string[];
  /** Another program changed it between two calls of the tree, even if the last state is the first one again. */
  readonly isUnsteady?: boolean;
  /**
   * The last folder of each walk in which it was listed: one program listed `/`, then a folder in that, and so on. Module
   * resolvers do so.
   */
  readonly walks?: readonly string[];
  /** It was listed outside of such walks too. */
  readonly isListedAlone?: boolean;
  /** Paths in it that another program added or removed between two listings. */
  readonly unsteadyNames?: readonly string[];
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
  /** The first. */
  readonly doubt?: { readonly kind: IncompleteReason; readonly detail: string };
  /** `thread access path` of each call, where that was asked for. */
  readonly calls?: readonly string[];
}

/** There is no thread that would follow the script, and nothing was started. */
export class NoThreadError extends Error {
  constructor() {
    super("No thread is to be had");
  }
}

export interface Tracer {
  /**
   * Starts a program whose whole tree is followed. Its standard input is empty. One at a time: what the next one sees is
   * a part of the same trace. `isTraced` tells, when the child is done, whether it was followed at all; where the system
   * refused that, nothing was started. Throws NoThreadError, and the system's error (`code`), EACCES, EPERM and ENOENT also where
   * it does not let the launcher be started.
   */
  start(
    request: Omit<ChildRequest, "inheritStdin" | "descriptors">,
  ): Child & { readonly isTraced: Promise<boolean> };
  /** What all of them did. The tracer is of no use afterwards. */
  finish(): Promise<Trace>;
}

export interface TracingOptions {
  /** The program that rt is; it is also what stays behind. */
  readonly program: string;
  readonly keepsCalls?: boolean;
}

export interface TracingOperations {
  /** Throws as `start` does. */
  openTracer(options: TracingOptions): Tracer;
}

/** Now, by one look. */
export type StatPath = (path: string) => PathState;

/** As in `TracedPath.names`; null when it cannot be listed. */
export type ListDirectory = (path: string) => readonly string[] | null;

/** What rt is called where it is a part of the tracing; its words are then none of a user's. */
export const TRACED_NAME = "rt-traced";
