// What rt needs of an operating system to start programs; one module per system implements it.

export interface ReplaceRequest {
  /** Absolute path of the program. */
  readonly program: string;
  /** All arguments, argv[0] included. */
  readonly argv: readonly string[];
  /** Set or, with undefined, removed; everything else is what rt itself was started with. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The engine's switch: see `replace`. */
  readonly engine?: boolean;
  readonly isSwitchOpen?: boolean;
  /** What is handed on beyond the standard three; `inheritedDescriptors()` unless given. */
  readonly descriptors?: readonly number[];
  /** Called with the program's number once it runs, where it does not take this process's place: see ephemeral-file.ts. */
  readonly serve?: ((pid: number) => void) | undefined;
}

/** The engine's built-in shell, or one that is installed. */
export type ShellChoice = "rt" | "system";

export interface ProcessOperations {
  /** How many descriptors this process may have; Infinity where they are not counted. */
  descriptorLimit(): number;
  /**
   * Becomes another program: same process id, terminal, file descriptors and, but for the changes asked for,
   * the environment that rt was started with (`.env` values are not passed on). Where the system cannot do
   * that (Windows), starts it, waits and exits as it did.
   *
   * With `engine` the program is rt itself, started as the engine. Its switch must not leak into what the
   * user's code starts later: libc's getenv sees the first entry of a name and the engine's own map the last,
   * so the switch is on in the first entry and off in the last. Where only one entry gets through, the switch has to be
   * open to see; the preload then takes it away.
   *
   * Returns only when the system refused, with its error code (for example "ENOEXEC") or a few words.
   */
  replace(request: ReplaceRequest): string;

  /** The descriptors from 3 up that rt was started with. To be asked for before rt opens any of its own. */
  inheritedDescriptors(): readonly number[];

  /** The environment rt was started with, without what `.env` files added. */
  originalEnvironment(): Record<string, string>;

  /**
   * One variable of it. What rt decides for itself asks here, never process.env: `.env` is for the user's program, and
   * whoever wrote the files of a working directory must not steer rt.
   */
  originalVariable(name: string): string | undefined;

  /**
   * The last words of rt's own command line, `args`, as they really are: bytes that are not UTF-8 come as lone
   * surrogates, which `replace` understands. See platform/native/posix/surrogate-escape.ts.
   */
  exactArguments(args: readonly string[]): readonly string[];

  /**
   * Ends this process by a signal, as its child was ended: that tells the caller more than a number could. Where it
   * does not end us, the exit code that shells show for it.
   */
  dieOf(signal: NodeJS.Signals): number;

  /**
   * Those of `signals` that rt may answer to. One that it was started to ignore (by nohup, or as a background job of a
   * shell without job control) is ignored by rt and by what it starts.
   */
  heeded<Signal extends NodeJS.Signals>(signals: readonly Signal[]): Signal[];

  /**
   * Ends the engine's handling of these signals: from here on they end this process. The listeners stay, for what came
   * before and has not been told to them.
   */
  stopHeeding(signals: readonly NodeJS.Signals[]): void;

  /** Whether standard input ends before its first byte; waits for that byte, but does not take it. */
  isInputEmpty(): boolean;

  /** Discards what was typed and not yet read on the terminal that standard input is; nothing of another input. */
  dropInput(): void;

  /** Whether a read of standard input would answer at once. Absent where the system does not tell. */
  hasInput?(): boolean;

  /**
   * From here on no other program of this user sees the memory of this process, and no core file has it, as far as the
   * system can do that. What this process starts, or becomes, is as ever.
   */
  hideMemory?(): void;

  /** Writes once. Returns how many bytes were written, or -1. */
  write(descriptor: number, bytes: Uint8Array): number;

  /** Whether a file descriptor is a terminal. */
  isTerminal(descriptor: number): boolean;

  /** For the user agent of scripts: "linux x64". */
  readonly system: string;

  /** What scripts are run in unless `--shell` says otherwise. */
  readonly defaultShell: ShellChoice;

  /** The program for `--shell system`, with this PATH; undefined when none is installed. */
  findShell(path: string): string | undefined;

  /** What to do then. */
  readonly shellHint: string;

  /** A file that is always there and always empty. */
  readonly noFile: string;

  /** What separates the entries of PATH. */
  readonly pathSeparator: ":" | ";";
}
