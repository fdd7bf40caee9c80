// The output and the exit code of a program that a test has started.
//
//   await resultOf(Bun.spawn(command, { stdout: "pipe", stderr: "pipe" }))    of any program
//   await outputOfProgram(["openssl", "version"])                             of a program that must succeed

export interface Result {
  stdout: string;
  stderr: string;
  /** Exit code, or the signal's name when a signal ended it. */
  status: number | string;
}

export async function resultOf(child: Bun.Subprocess<Bun.Spawn.Writable, "pipe", "pipe">): Promise<Result> {
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { stdout, stderr, status: child.signalCode ?? child.exitCode ?? -1 };
}

export interface ProgramOptions {
  readonly cwd?: string | undefined;
  readonly env?: Record<string, string | undefined> | undefined;
  readonly stdin?: string | undefined;
}

/** Returns the standard output. Throws the error output when the program fails. */
export async function outputOfProgram(
  command: readonly string[],
  { cwd, env, stdin }: ProgramOptions = {},
): Promise<string> {
  const child = Bun.spawn([...command], {
    cwd,
    env: env ?? process.env,
    stdin: stdin === undefined ? "ignore" : new TextEncoder().encode(stdin),
    stdout: "pipe",
    stderr: "pipe",
  });
  const { stdout, stderr, status } = await resultOf(child);
  if (status !== 0) throw new Error(`${command.join(" ")} ended with ${status}: ${stdout}${stderr}`);
  return stdout;
}

/** The last line is the text after the last line end. */
export async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of stream) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop()!;
    yield* lines;
  }
  yield rest;
}
