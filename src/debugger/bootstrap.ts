// Starts the debugger in the program's process: a thread that serves clients (debugger-thread.ts), and the wait for a client.
//
// Invariants:
// - prepare() runs before the runtime and removes the launch configuration from the environment; attach() runs after it. Two
//   threads that start at once would delay each other.
// - With --inspect the program runs while the thread starts. No engine module is loaded then: that would dominate the start.
// Non-obvious:
// - The engine's own wait blocks the thread that serves clients. So the program waits in a separate module
//   (../runner/engine/debugger.ts), which is rt's last one: a pause at the next statement must not be in rt's code.
import type { InspectAddress } from "./server/address.ts";
import { explainFailure } from "./server/announcement.ts";
import type { EditorOptions } from "./editor/editor.ts";
import { AGENT_SYMBOL, runInProcess } from "./in-process-agent.ts";
import {
  READY_SYMBOL,
  EDITOR_VARIABLE,
  LAUNCH_VARIABLE,
  type DebuggerLaunchConfig,
  PORT_VARIABLE,
} from "./launch-config.ts";
import type { ThreadMessage, ThreadReport } from "./debugger-thread.ts";

/** Longest time that an exiting program waits until the thread has sent the last messages. */
const EXIT_TIMEOUT_MS = 500;

/** Starts the thread; set by prepare(). */
let startPrepared: (() => void) | undefined;

export function prepare(): void {
  const config = takeLaunchConfig();
  // Undefined if --hot runs this again, and in the program's worker threads.
  if (!config) return;
  const { execArgv } = process;
  const words = execArgv.filter((word) => !config.added.includes(word));
  // The runtime gets the options of a start without a debugger; for others it would load rarely needed code.
  process.execArgv = words.toSpliced(words[0]?.startsWith("--config=") ? 1 : 0, 0, config.substitute);
  const id = crypto.randomUUID().replaceAll("-", "").slice(8);
  const { cwd, pid, version, arch } = process;
  const telemetry = { cwd: cwd(), processId: pid, nodeVersion: version, architecture: arch };
  if (config.address?.port) process.env[PORT_VARIABLE] = `${config.address.port}`;
  if (config.editor) introduce(config.editor, id, telemetry);
  // The original class: the runtime replaces Worker by one that installs the runtime in each thread.
  const { Worker: Thread } = globalThis;
  startPrepared = () => startThread(Thread, config, id, telemetry);
}

export function attach(): void {
  startPrepared?.();
}

function startThread(
  Thread: typeof Worker,
  config: DebuggerLaunchConfig,
  id: string,
  telemetry: object,
): void {
  const { address, isWaiting } = config;
  if (address && !isWaiting) requireFree(address);
  const worker = new Thread(config.thread) as Worker & { unref(): void };
  const callBinding = (binding: string, payload: string) =>
    worker.postMessage({ binding, payload } satisfies ThreadMessage);
  const value = (method: string, params: string) => runInProcess(method, params, callBinding);
  Object.defineProperty(globalThis, Symbol.for(AGENT_SYMBOL), { value });
  const started = Promise.withResolvers<void>();
  worker.onmessage = ({ data }: MessageEvent<ThreadReport>) => {
    if (data === "start") started.resolve();
    else fail(data.failure);
  };
  const [, title = ""] = process.argv;
  worker.postMessage({ config, title, telemetry, id } satisfies ThreadMessage);
  if (isWaiting) {
    loadBuiltins();
    const ready = started.promise.then(() => worker.unref());
    const get = () => {
      // Read by rt's last module.
      worker.postMessage("loaded" satisfies ThreadMessage);
      return ready;
    };
    Object.defineProperty(globalThis, Symbol.for(READY_SYMBOL), { get });
  } else {
    worker.unref();
    worker.postMessage("loaded" satisfies ThreadMessage);
  }
  process.on("exit", () => {
    const isFlushed = new Int32Array(new SharedArrayBuffer(4));
    worker.postMessage(isFlushed satisfies ThreadMessage);
    Atomics.wait(isFlushed, 0, 0, EXIT_TIMEOUT_MS);
  });
}

/** Exits if the port is in use. The thread would detect this only while the program already runs. */
function requireFree(address: InspectAddress): void {
  const [hostname] = address.hostnames as [string];
  try {
    if (address.port > 0) Bun.listen({ hostname, port: address.port, socket: { data() {} } }).stop(true);
  } catch (error) {
    fail(explainFailure(address, error));
  }
}

/** Prints an error and exits: a program that cannot be debugged must not run with --inspect. */
function fail(text: string): never {
  console.error(text);
  process.exit(1);
}

/**
 * Loads all builtin modules while the program waits for a client. Otherwise one that the program imports would run before the
 * program's first line, and --inspect-brk would pause in it.
 */
function loadBuiltins(): void {
  for (const name of process.getBuiltinModule("node:module").builtinModules) {
    if (/^_|^(?:punycode|sys)$/.test(name)) continue; // deprecated: loading them prints a warning
    try {
      process.getBuiltinModule(name);
    } catch {
      // Some modules cannot be loaded this way.
    }
  }
}

/** Reads the launch configuration and removes it from the environment. */
function takeLaunchConfig(): DebuggerLaunchConfig | undefined {
  const { env } = process;
  const { [LAUNCH_VARIABLE]: text } = env;
  delete env[LAUNCH_VARIABLE];
  if (text === undefined) return undefined;
  const config = JSON.parse(text) as DebuggerLaunchConfig;
  for (const name of config.engineVariables) delete env[name];
  return config;
}

/** Passes the editor's options on to child processes, and writes the file by which an editor learns the process ID. */
function introduce(
  { onlyEntrypoint, fileCallback, ...others }: EditorOptions,
  id: string,
  telemetry: object,
): void {
  const { env } = process;
  if (onlyEntrypoint) delete env[EDITOR_VARIABLE];
  else env[EDITOR_VARIABLE] = JSON.stringify({ ...others, onlyEntrypoint, openerId: id });
  if (fileCallback === undefined) return;
  try {
    process.getBuiltinModule("node:fs").writeFileSync(fileCallback, JSON.stringify(telemetry));
  } catch {
    // The editor no longer waits for the file.
  }
}
