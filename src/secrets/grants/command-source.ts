// A secret that a program prints: any other manager of passwords.
//
// Contract: no shell is started, the program is looked for on the PATH that rt was started with, and it runs in the folder of
// the rtfig.toml that names it. Its standard input is empty, so that it cannot take what is meant for the script; what it has
// to say to a person goes to standard error. What it writes on standard output is the value, without the last line break, and
// is told to nobody else: a failure is told by the exit code. The value is whole when the program has ended: what it leaves in
// the background, as a manager of passwords leaves its agent, may hold the pipe open for ever.
import { errorCode } from "../../../platform/caught-error.ts";
import { host } from "../../../platform/processes/process.ts";
import { printable } from "../../printable.ts";

/** Bytes. */
const LARGEST_OUTPUT = 1024 * 1024;
/** How long nothing must have come since the program's end. */
const LINGER = 100; // ms

/** The value, which is the caller's to zero; or why there is none, as a sentence. */
export async function readCommand(argv: readonly string[], folder: string): Promise<Uint8Array | string> {
  const [name = "", ...words] = argv;
  const shown = `The command "${printable(name)}"`;
  const { basename, resolve } = process.getBuiltinModule("node:path"); // not before: others share the chunk
  const isPath = basename(name) !== name;
  const program = isPath
    ? resolve(folder, name)
    : Bun.which(name, { PATH: host.originalVariable("PATH") ?? "" });
  if (program === null) return `${shown} is not on PATH`;
  let child: Bun.Subprocess<"ignore", "pipe", "inherit">;
  try {
    child = Bun.spawn([program, ...words], {
      cwd: folder,
      env: host.originalEnvironment(),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    });
  } catch (error) {
    return `${shown} could not be started (${errorCode(error) ?? "unknown"})`;
  }
  const output = await readOutput(child.stdout, child.exited);
  // It may heed nothing else: a pipe that nobody reads and TERM are easily ignored.
  if (!output) child.kill("SIGKILL");
  await child.exited;
  if (!output) return `${shown} wrote more than ${LARGEST_OUTPUT} bytes`;
  const failure = describeEnd(child, output);
  if (failure === undefined) return output;
  output.fill(0);
  return `${shown} ${failure}`;
}

function describeEnd({ exitCode, signalCode }: Bun.Subprocess, output: Uint8Array): string | undefined {
  if (signalCode) return `was ended by ${signalCode}`;
  if (exitCode !== 0) return `failed with exit code ${exitCode}`;
  return output.length === 0 ? "wrote nothing" : undefined;
}

/** Undefined where it is too much. */
async function readOutput(
  stream: ReadableStream<Uint8Array>,
  exited: Promise<unknown>,
): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = stream.getReader();
  const lingering = listenBriefly(
    exited,
    () => length,
    () => void reader.cancel().catch(() => {}),
  );
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      chunks.push(read.value);
      length += read.value.length;
      if (length > LARGEST_OUTPUT) return undefined;
    }
    const whole = new Uint8Array(length);
    let at = 0;
    for (const chunk of chunks) {
      whole.set(chunk, at);
      at += chunk.length;
    }
    const value = whole.slice(0, endOfValue(whole));
    whole.fill(0);
    return value;
  } finally {
    lingering.stop();
    void reader.cancel().catch(() => {});
    for (const chunk of chunks) chunk.fill(0);
  }
}

/** Calls `end` when the program has ended and its output no longer grows. */
function listenBriefly(exited: Promise<unknown>, size: () => number, end: () => void): { stop(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const look = (before: number) => {
    // oxlint-disable-next-line typescript/no-misused-promises -- nothing in it throws but `end` and `size`, which do not
    timer = setTimeout(async () => {
      // What is there has been read by the next turns, however late this one has come.
      for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      if (isOver) return;
      if (size() === before) end();
      else look(size());
    }, LINGER);
  };
  void exited.then(() => isOver || look(size()));
  return {
    stop() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}

const LINE_FEED = 10;
const RETURN = 13;

function endOfValue(bytes: Uint8Array): number {
  if (bytes.at(-1) !== LINE_FEED) return bytes.length;
  return bytes.length - (bytes.at(-2) === RETURN ? 2 : 1);
}
