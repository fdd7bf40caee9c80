// The contract of processes: exec, environment, signals and standard streams. Each operating system implements it.

export interface ReplaceRequest {
  readonly program: string;
  /** All arguments, including argv[0]. */
  readonly argv: readonly string[];
  /** Variables to set or, if undefined, to remove. All others are those that rt was started with. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Sets the engine switch: see `replace`. */
  readonly engine?: boolean;
  readonly isSwitchOpen?: boolean;
  /** Inherited descriptors above 2; by default `inheritedDescriptors()`. */
  readonly descriptors?: readonly number[];
  /** Called with the child's process id if the program does not replace this process: see ephemeral-file.ts. */
  readonly serve?: ((pid: number) => void) | undefined;
}

/** The engine's built-in shell, or an installed one. */
export type ShellChoice = "rt" | "system";

export interface ProcessOperations {
  /** Returns the limit of open files; Infinity if there is none. */
  descriptorLimit(): number;
  /**
   * Replaces this process by another program (exec). Process id, terminal and descriptors stay, and the environment is rt's
   * original one (without `.env` values). Windows cannot do that: rt starts the program, waits and exits as it did.
   *
   * With `engine` the program is rt itself as the engine. Its switch must not be inherited by processes that user code
   * starts. The C library's getenv() reads the first entry of a name, and the engine's map the last. So the first entry is on
   * and the last is off. If only one entry can be passed, it is on, and the preload removes it.
   *
   * Returns only on failure, with the error code (for example "ENOEXEC") or a short text.
   */
  replace(request: ReplaceRequest): string;

  /** Returns the descriptors from 3 up that rt was started with. Must be called before rt opens its own. */
  inheritedDescriptors(): readonly number[];

  /** Returns the environment rt was started with, without `.env` values. */
  originalEnvironment(): Record<string, string>;

  /**
   * Returns one variable of it. rt's own decisions must not read process.env. `.env` values belong to the user's program, and the
   * author of a working directory must not control rt.
   */
  originalVariable(name: string): string | undefined;

  /**
   * Returns the last arguments of rt's command line without loss: bytes that are not UTF-8 become lone surrogates, which `replace`
   * accepts. See platform/native/posix/surrogate-escape.ts.
   */
  exactArguments(args: readonly string[]): readonly string[];

  /**
   * Ends this process by the signal that ended its child, so that the caller sees the cause. If the signal does not end it, returns
   * the exit code that shells use.
   */
  exitBySignal(signal: NodeJS.Signals): number;

  /**
   * Returns the signals that rt may handle. A signal that rt was started to ignore (nohup, or a background job of a shell without
   * job control) stays ignored in rt and its children.
   */
  handledSignals<Signal extends NodeJS.Signals>(signals: readonly Signal[]): Signal[];

  /**
   * Restores the default action of these signals. Listeners stay registered for signals that have arrived before.
   */
  restoreDefaultActions(signals: readonly NodeJS.Signals[]): void;

  /** Returns whether standard input is empty. Waits for the first byte, but does not consume it. */
  isInputEmpty(): boolean;

  /** Discards unread input of a terminal. No effect on other inputs. */
  dropInput(): void;

  /** Returns whether a read of standard input would not block. Undefined if the system cannot answer. */
  hasInput?(): boolean;

  /**
   * Makes this process nondumpable, as far as the system supports it. Other processes of the user cannot read its memory, and no
   * core file is written. Children are not affected.
   */
  hideMemory?(): void;

  /** Writes once. Returns the number of bytes written, or -1. */
  write(descriptor: number, bytes: Uint8Array): number;

  isTerminal(descriptor: number): boolean;

  /** System and processor for the user agent of scripts: "linux x64". */
  readonly system: string;

  /** Whether a program before the engine replays memos of starts. */
  readonly replaysStarts: boolean;

  readonly defaultShell: ShellChoice;

  /** Returns the program of `--shell system` on this PATH; undefined if none is installed. */
  findShell(path: string): string | undefined;

  readonly shellHint: string;

  /** Path of a file that always exists and is always empty. */
  readonly noFile: string;

  readonly pathSeparator: ":" | ";";
}
