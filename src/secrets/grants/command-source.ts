// Reads a secret from the standard output of a command, such as the client of another password manager.
//
// Invariants:
// - No shell is started. The program is looked up on the PATH that rt was started with and runs in the folder of its rtfig.toml.
// - Standard input is empty, so that the command cannot consume the script's input. Standard error goes to the terminal.
// - The value is standard output without the last line break. Errors contain the exit code only, never output.
// - The value is complete when the program has exited: a background process that it leaves, such as an agent, may keep the
//   pipe open.
import { errorCode } from "../../../platform/caught-error.ts";
import { host } from "../../../platform/processes/process.ts";
import { printable } from "../../printable.ts";

const MAX_OUTPUT_SIZE = 1024 * 1024; // bytes
/** The output is complete if nothing arrives for this long after the exit. */
const QUIET_PERIOD = 100; // ms

/** Returns the value, which the caller zeroizes, or the reason why it is missing. */
export async function readCommand(argv: readonly string[], folder: string): Promise<Uint8Array | string> {
  const [name = "", ...words] = argv;
  const shown = `The command "${printable(name)}"`;
  const { basename, resolve } = process.getBuiltinModule("node:path"); // lazy: other modules share this chunk
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
  // SIGKILL: the program may ignore SIGPIPE and SIGTERM.
  if (!output) child.kill("SIGKILL");
  await child.exited;
  if (!output) return `${shown} wrote more than ${MAX_OUTPUT_SIZE} bytes`;
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

/** Returns undefined if the output exceeds the limit. */
async function readOutput(
  stream: ReadableStream<Uint8Array>,
  exited: Promise<unknown>,
): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = stream.getReader();
  const quietTimer = awaitQuiet(
    exited,
    () => length,
    () => void reader.cancel().catch(() => {}),
  );
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      chunks.push(read.value);
      length += read.value.length;
      if (length > MAX_OUTPUT_SIZE) return undefined;
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
    quietTimer.stop();
    void reader.cancel().catch(() => {});
    for (const chunk of chunks) chunk.fill(0);
  }
}

/** Calls `end` when the program has ended and its output no longer grows. */
function awaitQuiet(exited: Promise<unknown>, size: () => number, end: () => void): { stop(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;
  const checkAgain = (before: number) => {
    // oxlint-disable-next-line typescript/no-misused-promises -- nothing in it throws but `end` and `size`, which do not
    timer = setTimeout(async () => {
      // A late timer must not precede pending reads: two event loop turns let them complete.
      for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      if (isStopped) return;
      if (size() === before) end();
      else checkAgain(size());
    }, QUIET_PERIOD);
  };
  void exited.then(() => isStopped || checkAgain(size()));
  return {
    stop() {
      isStopped = true;
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
