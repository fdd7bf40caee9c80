// What the scheduler needs of an operating system: children whose whole family can be ended.

export interface ChildExit {
  /** Meaningless when a signal ended the child. */
  readonly code: number;
  /** "SIGTERM" and so on; null for a normal exit. */
  readonly signal: string | null;
}

/** A signal without a name (the real-time ones) is told as shells do, 128 above its number. */
export function describeExit({ exitCode, signalCode }: Bun.Subprocess): ChildExit {
  if (typeof signalCode === "number") return { code: 128 + signalCode, signal: null };
  return { code: exitCode ?? 1, signal: signalCode };
}

export interface ChildRequest {
  /** The program's path; undefined to look `argv[0]` up on PATH. */
  readonly program: string | undefined;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * - "merged": standard output and error in one stream, in the order of the writes;
   * - "separate": two streams;
   * - "inherit": our own descriptors, our own process group (so that it may read the terminal).
   */
  readonly output: "merged" | "separate" | "inherit";
  /** What the child gets beyond the standard three, as 3 and so on; undefined is a place with nothing of ours. */
  readonly descriptors?: readonly (number | undefined)[];
  /** Whether the child reads our standard input; otherwise it finds it empty. */
  readonly inheritStdin: boolean;
  /** What it reads instead of either, from beginning to end. */
  readonly input?: Uint8Array<ArrayBuffer> | undefined;
  /** By which what loses its parent is known again, after `adoptOrphans`. Unique, without a line break. */
  readonly family?: string;
  /** The bytes are only valid during the call; a promise holds back the next ones (of this child). Never throws. */
  onOutput(bytes: Uint8Array, isError: boolean): void | Promise<void>;
}

export interface Child {
  readonly pid: number;
  /** Settles after the last call of `onOutput`. Never rejects because of the child. */
  readonly done: Promise<ChildExit>;
}

export type StopSignal = "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGKILL";

export interface ProcessTreeOperations {
  /** Throws the system's error (`code` ENOENT, EACCES, EMFILE, ...). */
  startChild(request: ChildRequest): Child;
  /**
   * Sends a signal to every process that these children started, whatever group it has moved to.
   * @param families of what has lost its parent only theirs; without it, all of that
   */
  signalTrees(children: readonly Child[], signal: StopSignal, families?: readonly string[]): void;
  /**
   * A stop that the terminal asks for (Ctrl-Z) reaches rt alone where its children lead sessions of their own. Until
   * the returned function is called it also stops the trees of `children()`, and what continues rt continues them.
   */
  shareSuspension(request: { children(): readonly Child[]; onSuspend(): void; onResume(): void }): () => void;
  /** Whether a process above this one runs the program of that path. False where that cannot be seen. */
  hasAncestor(program: string): boolean;
  /**
   * From here on a tree keeps what loses its parent: with one child at a time, all of that is of the last one's tree, with
   * several that which has its family in its environment.
   * Nothing changes where the system has no such thing (macOS).
   */
  adoptOrphans(): void;
  /**
   * Those of these children, which have all ended, of which something is left that can still be ended. Cheap where nothing is
   * left. What has nothing left in the group that the child led may be passed over.
   */
  findLeft(children: readonly Child[]): Child[];
  /** Whether any process of these trees is left. */
  hasSurvivors(children: readonly Child[], families?: readonly string[]): boolean;
  /**
   * When every child has ended and another program is about to take rt's place: it finds no process among its
   * children that it has not started.
   */
  leaveNothing(): Promise<void>;
  /**
   * How many children with piped output may run at once before file descriptors run out.
   * @param areFollowed whether what they open and start is seen (tracing.ts), which takes descriptors of its own
   */
  childLimit(areFollowed: boolean): number;
  /** Whether a Ctrl-C in the terminal reaches an "inherit" child without our help. */
  readonly terminalSignalsInherited: boolean;
}
