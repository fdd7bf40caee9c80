// What a program that is debugged loads first: the thread that speaks with debuggers, and the wait for one of them.
//
// It comes in two halves, in one module with rt's runtime between them: the first before anything else of rt's, which then
// finds the environment without the order, the second behind it, because two that begin at once hold each other up. A
// program that need not wait runs while its thread gets ready. Nothing here loads a module of the engine's: that would cost
// the program's start more than all the rest.
//
// Surprising: the engine can wait by itself, but then nothing runs that could serve; so a program that waits does so in a
// module that does nothing else (run/engine/debugger.ts). It is the last of rt's, because who stops at the next statement
// must not come across one of rt's.
import type { InspectAddress } from "./server/address.ts";
import { explainFailure } from "./server/announcement.ts";
import type { EditorOptions } from "./editor/editor.ts";
import { AGENT_SYMBOL, ask } from "./in-process-agent.ts";
import {
  READY_SYMBOL,
  EDITOR_VARIABLE,
  LAUNCH_VARIABLE,
  type DebuggerLaunchConfig,
  PORT_VARIABLE,
  STEADY,
} from "./launch-config.ts";
import type { ThreadMessage, Report } from "./debugger-thread.ts";

/** How long a program that ends waits for its debugger to have heard all. */
const LONGEST_GOODBYE = 500; // ms

/** The second half. */
let begin: (() => void) | undefined;

export function prepare(): void {
  const order = takeOrder();
  // --hot comes here again, and so does each thread of the program's.
  if (!order) return;
  const { execArgv } = process;
  const words = execArgv.filter((word) => !order.added.includes(word));
  // As the runtime finds it where it is not debugged: it would otherwise load what few starts need.
  process.execArgv = words.toSpliced(words[0]?.startsWith("--config=") ? 1 : 0, 0, order.substitute);
  const id = crypto.randomUUID().replaceAll("-", "").slice(8);
  const { cwd, pid, version, arch } = process;
  const telemetry = { cwd: cwd(), processId: pid, nodeVersion: version, architecture: arch };
  if (order.address?.port) process.env[PORT_VARIABLE] = `${order.address.port}`;
  if (order.editor) introduce(order.editor, id, telemetry);
  // The runtime puts itself into each thread of that which it makes of this class.
  const { Worker: Thread } = globalThis;
  begin = () => startThread(Thread, order, id, telemetry);
}

export function attach(): void {
  begin?.();
}

function startThread(
  Thread: typeof Worker,
  order: DebuggerLaunchConfig,
  id: string,
  telemetry: object,
): void {
  const { address, isWaiting } = order;
  if (address && !isWaiting) requireFree(address);
  const worker = new Thread(order.thread) as Worker & { unref(): void };
  const tell = (binding: string, payload: string) =>
    worker.postMessage({ binding, payload } satisfies ThreadMessage);
  const value = (method: string, params: string) => ask(method, params, tell);
  Object.defineProperty(globalThis, Symbol.for(AGENT_SYMBOL), { value });
  const go = Promise.withResolvers<void>();
  worker.onmessage = ({ data }: MessageEvent<Report>) => {
    if (data === "start") go.resolve();
    else refuse(data.failure);
  };
  const [, title = ""] = process.argv;
  worker.postMessage({ order, title, telemetry, id } satisfies ThreadMessage);
  if (isWaiting) {
    loadBuiltins();
    const beginning = go.promise.then(() => worker.unref());
    const get = () => {
      // The last of rt's modules asks.
      worker.postMessage("loaded" satisfies ThreadMessage);
      return beginning;
    };
    Object.defineProperty(globalThis, Symbol.for(READY_SYMBOL), { get });
  } else {
    worker.unref();
    worker.postMessage("loaded" satisfies ThreadMessage);
  }
  process.on("exit", () => {
    const isTold = new Int32Array(new SharedArrayBuffer(4));
    worker.postMessage(isTold satisfies ThreadMessage);
    Atomics.wait(isTold, 0, 0, LONGEST_GOODBYE);
  });
}

/** The thread listens when the program runs already, and a program that nobody can debug is not to run. */
function requireFree(address: InspectAddress): void {
  const [hostname] = address.hostnames as [string];
  try {
    if (address.port > 0) Bun.listen({ hostname, port: address.port, socket: { data() {} } }).stop(true);
  } catch (error) {
    refuse(explainFailure(address, error));
  }
}

/** As for any option that cannot be honoured: a program that nobody can debug is not what was asked for. */
function refuse(text: string): never {
  console.error(text);
  process.exit(1);
}

/**
 * All of the engine's own modules, while a debugger is waited for. One that the program imports would otherwise run before
 * the program's first line, and who stops at the next statement would stop there.
 */
function loadBuiltins(): void {
  for (const name of process.getBuiltinModule("node:module").builtinModules) {
    if (/^_|^(?:punycode|sys)$/.test(name)) continue; // deprecated, which they say when they are loaded
    try {
      process.getBuiltinModule(name);
    } catch {
      // Not all can be had so.
    }
  }
}

/** What was asked for, out of the environment. */
function takeOrder(): DebuggerLaunchConfig | undefined {
  const { env } = process;
  const { [LAUNCH_VARIABLE]: text } = env;
  delete env[LAUNCH_VARIABLE];
  if (text === undefined) return undefined;
  const order = JSON.parse(text) as DebuggerLaunchConfig;
  if (order.isSteadied) for (const name of Object.keys(STEADY)) delete env[name];
  return order;
}

/** To what this program starts, and to an editor that wants to know which process it is. */
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
    // Nobody waits for it any longer.
  }
}
