// Starts a program on its own terminal, with input from a test.
//
//   await using terminal = startOnTerminal([RT, "secrets", "set", "a", "b"], env);
//   await terminal.awaitOutput("Value for");
//   terminal.type("secret\r");
//   expect(await terminal.awaitExit()).toBe(0);

/** Bits of `c_lflag`, as on Linux. */
const ECHO = 0o10;
const ICANON = 0o2;

export interface TerminalProgram extends AsyncDisposable {
  readonly pid: number;
  /** The output so far. */
  readonly shown: string;
  /** Whether the terminal echoes input and is line-buffered, as a shell expects it. */
  readonly isInDefaultMode: boolean;
  setDefaultMode(): void;
  /** Resolves when the output contains `text` this many times. */
  awaitOutput(text: string, times?: number): Promise<void>;
  type(keys: string): void;
  resize(columns: number, rows: number): void;
  /** Closes the terminal, like its window. */
  hangUp(): void;
  /** Resolves when no process has the terminal open any more and all output has arrived. */
  awaitClose(): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  /** Resolves with the exit code or the signal's name. The last output may still be missing: await `awaitOutput` first. */
  awaitExit(): Promise<number | string>;
}

export interface TerminalOptions {
  readonly cwd?: string;
  /** The program leads a session on the terminal, like a shell, so Ctrl-C reaches it. */
  readonly isSessionLeader?: boolean;
}

export function startOnTerminal(
  command: readonly string[],
  env: Record<string, string>,
  { cwd, isSessionLeader: isInControl = false }: TerminalOptions = {},
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
  // A terminal that is created before the program is not its controlling terminal.
  const standalone = isInControl ? undefined : new Bun.Terminal(options);
  const child = Bun.spawn([...command], {
    cwd,
    env: { TERM: "xterm", ...env },
    terminal: standalone ?? options,
  });
  const terminal = standalone ?? child.terminal!;
  return {
    pid: child.pid,
    get shown() {
      return shown;
    },
    get isInDefaultMode() {
      const flags = ECHO | ICANON;
      return (terminal.localFlags & flags) === flags;
    },
    setDefaultMode() {
      terminal.localFlags |= ECHO | ICANON;
    },
    async awaitOutput(text, times = 1) {
      while (shown.split(text).length <= times) await new Promise<void>((resolve) => (notify = resolve));
    },
    type: (keys) => void terminal.write(keys),
    resize: (columns, rows) => terminal.resize(columns, rows),
    hangUp: () => terminal.close(),
    awaitClose: () => atEnd.promise,
    kill: (signal) => child.kill(signal),
    async awaitExit() {
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
