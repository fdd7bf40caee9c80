// What a program that is debugged loads first: the thread that speaks with debuggers, and the wait for one of them.
//
// It is loaded before anything else of rt's, which then finds the environment without the order. Nothing here loads a module
// of the engine's: that would cost the program's start more than all the rest.
//
// Surprising: the engine can wait by itself, but then nothing runs that could serve; so the program waits in a module that
// does nothing else (run/engine/debugger.ts). It is the last of rt's, because who stops at the next statement must not come
// across one of rt's.
import { type Address, bracket } from "./address.ts";
import type { EditorOptions } from "./editor.ts";
import { ASK, ask } from "./inside.ts";
import { BEGINNING, EDITOR_VARIABLE, ORDER, type Order } from "./order.ts";
import type { Serving } from "./server.ts";
import type { Instruction, Report } from "./thread.ts";

/** How long a program that ends waits for its debugger to have heard all. */
const LONGEST_GOODBYE = 500; // ms

export function attach(): void {
  const order = takeOrder();
  // --hot comes here again.
  if (!order) return;
  Object.defineProperty(globalThis, Symbol.for(ASK), { value: ask });
  const [, title = ""] = process.argv;
  const { cwd, pid, version, arch } = process;
  const telemetry = { cwd: cwd(), processId: pid, nodeVersion: version, architecture: arch };
  const id = crypto.randomUUID().replaceAll("-", "").slice(8);
  if (order.editor) introduce(order.editor, id, telemetry);
  const worker = new Worker(order.thread) as Worker & { unref(): void };
  const go = Promise.withResolvers<void>();
  worker.onmessage = ({ data }: MessageEvent<Report>) => {
    if (data === "start") return go.resolve();
    if ("failure" in data) return refuse(order.address!, data.failure);
    if (order.address) announce(order.address, data.urls!);
    if (!order.isWaiting) go.resolve();
  };
  worker.postMessage({ order, title, telemetry, id } satisfies Instruction);
  if (order.isWaiting) loadBuiltins();
  worker.postMessage("loaded" satisfies Instruction);
  const beginning = go.promise.then(() => worker.unref());
  Object.defineProperty(globalThis, Symbol.for(BEGINNING), { value: beginning });
  process.on("exit", () => {
    const isTold = new Int32Array(new SharedArrayBuffer(4));
    worker.postMessage(isTold satisfies Instruction);
    Atomics.wait(isTold, 0, 0, LONGEST_GOODBYE);
  });
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
function takeOrder(): Order | undefined {
  const { env } = process;
  const { [ORDER]: text } = env;
  delete env[ORDER];
  if (text === undefined) return undefined;
  return JSON.parse(text) as Order;
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

function announce({ hostnames }: Address, { chrome, webkit }: Serving["urls"]): void {
  const lines = [
    `Debugger listening on ${chrome}`,
    `For Web Inspector: ${webkit} or https://debug.bun.sh/#${webkit.slice("ws://".length)}`,
  ];
  if (!hostnames.every((name) => /^(?:127\.|::1$|localhost$)/.test(name)))
    lines.push(`warning: whoever reaches ${hostnames[0]} can run code as you`);
  console.error(lines.join("\n"));
}

/** As for any option that cannot be honoured: a program that nobody can debug is not what was asked for. */
function refuse({ hostnames, port }: Address, failure: string): never {
  const place = `${bracket(hostnames[0]!)}:${port}`;
  console.error(
    `error: Cannot debug at ${place}: ${failure}\nhint: choose another port, as in --inspect=0 for any`,
  );
  process.exit(1);
}
