// A program on a terminal of its own, typed at by a test.
//
//   await using terminal = startOnTerminal([RT, "secrets", "set", "a", "b"], env);
//   await terminal.shows("Value for");
//   terminal.type("secret\r");
//   expect(await terminal.ends()).toBe(0);

/** Bits of `c_lflag`, as on Linux. */
const ECHO = 0o10;
const ICANON = 0o2;

export interface TerminalProgram extends AsyncDisposable {
  readonly pid: number;
  /** Everything shown so far. */
  readonly shown: string;
  /** Whether the terminal shows what is typed, line by line, as a shell needs it. */
  readonly isOrdinary: boolean;
  makeOrdinary(): void;
  /** Resolves when `text` has been shown so many times. */
  shows(text: string, times?: number): Promise<void>;
  type(keys: string): void;
  resize(columns: number, rows: number): void;
  /** The terminal goes away, as when its window is closed. */
  hangUp(): void;
  /** Resolves when nobody has the terminal open any more and all is shown. */
  rest(): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  /** The exit code, or the signal's name. What was shown last may still be on its way: ask `shows` first. */
  ends(): Promise<number | string>;
}

export interface TerminalOptions {
  readonly cwd?: string;
  /** The program leads a session of its own there, as a shell's does: Ctrl-C and the like reach it. */
  readonly isInControl?: boolean;
}

export function startOnTerminal(
  command: readonly string[],
  env: Record<string, string>,
  { cwd, isInControl = false }: TerminalOptions = {},
): TerminalProgram {
  const decoder = new TextDecoder();
  let shown = "";
  let notify = () => {};
  const atEnd = Promise.withResolvers<void>();
  const options = {
    exit: () => atEnd.resolve(),
    data(_terminal: Bun.Terminal, bytes: Uint8Array) {
      shown += decoder.decode(bytes, { stream: true });
      notify();
    },
  };
  // One that is made before is no program's own.
  const made = isInControl ? undefined : new Bun.Terminal(options);
  const child = Bun.spawn([...command], { cwd, env: { TERM: "xterm", ...env }, terminal: made ?? options });
  const terminal = made ?? child.terminal!;
  return {
    pid: child.pid,
    get shown() {
      return shown;
    },
    get isOrdinary() {
      const wanted = ECHO | ICANON;
      return (terminal.localFlags & wanted) === wanted;
    },
    makeOrdinary() {
      terminal.localFlags |= ECHO | ICANON;
    },
    async shows(text, times = 1) {
      while (shown.split(text).length <= times) await new Promise<void>((resolve) => (notify = resolve));
    },
    type: (keys) => void terminal.write(keys),
    resize: (columns, rows) => terminal.resize(columns, rows),
    hangUp: () => terminal.close(),
    rest: () => atEnd.promise,
    kill: (signal) => child.kill(signal),
    async ends() {
      await child.exited;
      return child.signalCode ?? child.exitCode ?? -1;
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
      terminal.close();
    },
  };
}
