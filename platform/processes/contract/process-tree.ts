// The contract of process trees: starts children whose descendants can be signalled and ended together.

import type { ChildPermissions } from "../../permissions/contract/permissions.ts";

export interface ChildExit {
  /** Meaningless if a signal ended the child. */
  readonly code: number;
  /** "SIGTERM" and so on; null for a normal exit. */
  readonly signal: string | null;
}

/** Returns the exit status. A signal without a name (real-time signals) becomes 128 + its number, as in shells. */
export function describeExit({ exitCode, signalCode }: Bun.Subprocess): ChildExit {
  if (typeof signalCode === "number") return { code: 128 + signalCode, signal: null };
  return { code: exitCode ?? 1, signal: signalCode };
}

export interface ChildRequest {
  /** Path of the program; undefined to search `argv[0]` on PATH. */
  readonly program: string | undefined;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * - "merged": standard output and error in one stream, in write order
   * - "separate": two streams
   * - "inherit": rt's descriptors and process group, so that the child may read the terminal
   * - "terminal": a pseudo-terminal, also as the controlling terminal; "merged" if none is available
   */
  readonly output: "merged" | "separate" | "inherit" | "terminal";
  readonly size?: TerminalDimensions | undefined;
  /** Further descriptors of the child, from 3 on; undefined leaves one closed. */
  readonly descriptors?: readonly (number | undefined)[];
  /** Whether the child inherits standard input; otherwise its standard input is empty. */
  readonly inheritStdin: boolean;
  /** Content of standard input, instead of both. */
  readonly input?: Uint8Array<ArrayBuffer> | undefined;
  /** Marker variable that identifies orphans after `adoptOrphans`. Unique, without a line break. */
  readonly family?: string;
  /** Set if `program` registers itself: its first four arguments are then those of the registration program. */
  readonly registersItself?: boolean;
  /** Whether the program is rt and starts as the engine at once. No effect on Windows, where rt starts it. */
  readonly engine?: boolean | undefined;
  /** Restricts the process tree. A system that cannot enforce it throws. */
  readonly permissions?: ChildPermissions | undefined;
  /**
   * Delivers output of background processes after the child's exit too, until they close it. `done` then resolves at the exit.
   * No effect on Windows.
   */
  readonly keepsOutput?: boolean;
  /** An error of the program's start may reject `done`, so that the caller does not wait for the start. */
  readonly mayFailLate?: boolean;
  /** Receives output. The bytes are valid during the call only; a promise delays the child's next chunk. Must not throw. */
  onOutput(bytes: Uint8Array, isError: boolean): void | Promise<void>;
}

export interface TerminalDimensions {
  readonly columns: number;
  readonly rows: number;
}

/** The pseudo-terminal of a child, from rt's side. */
export interface ChildTerminal {
  /** Types input. Bytes that the child does not read in time are dropped. */
  type(bytes: Uint8Array): void;
  resize(size: TerminalDimensions): void;
}

export interface Child {
  readonly pid: number;
  /** Set with the output "terminal", until the child has exited. */
  readonly terminal?: ChildTerminal | undefined;
  /** As requested. */
  readonly family?: string | undefined;
  /** Resolves after the last call of `onOutput`. Rejects only with `mayFailLate`, with the system's error. */
  readonly done: Promise<ChildExit>;
}

export interface TreeMember {
  readonly pid: number;
  /** Whether it is running or waits for a disk, and does not sleep. */
  readonly isBusy: boolean;
}

export type StopSignal = "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGKILL";

export interface ProcessTreeOperations {
  /** @throws the system's error (`code` ENOENT, EACCES, EMFILE, ...) */
  startChild(request: ChildRequest): Child;
  /**
   * Sends a signal to every descendant of these children, in whatever process group.
   *
   * @param families limits orphans to these marker variables; undefined for all orphans
   */
  signalTrees(children: readonly Child[], signal: StopSignal, families?: readonly string[]): void;
  /**
   * Shares job control: Ctrl-Z reaches only rt if its children lead their own sessions. Until the returned function is called, a
   * stop of rt stops the trees of `children()`, and its continuation continues them.
   */
  shareSuspension(request: { children(): readonly Child[]; onSuspend(): void; onResume(): void }): () => void;
  /** Returns whether an ancestor of this process runs the program at that path; false if unknown. */
  hasAncestor(program: string): boolean;
  /** Returns the living members of these trees. Linux only, otherwise empty. */
  listMembers(children: readonly Child[], families: readonly string[]): readonly TreeMember[];
  /**
   * Ends the orphans of a marker variable with rt, if rt is killed. Called again when orphans may have been added. Without it only
   * children and their descendants end. @param isOver whether none is left that matters
   */
  guardOrphans(family: string, isOver: boolean): void;
  /**
   * Makes rt the subreaper of its descendants. With one child at a time, all orphans belong to the last child's tree. With
   * several, an orphan belongs to the tree of its marker variable. No effect on macOS.
   */
  adoptOrphans(): void;
  /**
   * Returns those of these exited children that have left processes behind. Cheap if there are none. May miss a child whose
   * process group is empty.
   */
  findSurvivingChildren(children: readonly Child[]): Child[];
  /** Returns whether any process of these trees is left. */
  hasSurvivors(children: readonly Child[], families?: readonly string[]): boolean;
  /**
   * Prepares exec after all children have exited: the program that replaces rt must not find children that it has not started.
   */
  prepareExec(): Promise<void>;
  /**
   * Returns how many children with piped output may run at once within the limit of open files.
   *
   * @param areFollowed whether the children are traced, which needs further descriptors
   */
  childLimit(areFollowed: boolean): number;
  /** Whether a terminal's Ctrl-C reaches an "inherit" child without rt. */
  readonly terminalSignalsInherited: boolean;
}
