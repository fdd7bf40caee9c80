// What a program that is debugged loads first: the thread that speaks with debuggers, and the wait for one of them.
//
// This file is both, since it is one script that the engine reads from the file system (see run/engine/debugger.ts); in the
// thread it serves. It is loaded before anything else of rt's, which then finds the environment without the order.
//
// Surprising: the engine can wait by itself, but then nothing runs that could serve; so the program waits in a module that
// does nothing else (run/engine/debugger.ts). It is the last of rt's, because who stops at the next statement must not come
// across one of rt's.
import { writeFileSync, writeSync } from "node:fs";
import { type Address, bracket } from "./address.ts";
import { EDITOR_VARIABLE, type EditorOptions } from "./editor.ts";
import { ASK, ask } from "./inside.ts";
import { BEGINNING, ORDER, type Order } from "./order.ts";
import type { Serving } from "./server.ts";
import { type Instruction, type Report, serveFromThread } from "./thread.ts";

/** How long a program that ends waits for its debugger to have heard all. */
const LONGEST_GOODBYE = 500; // ms

/** @param url of this script */
export function attach(url: string): void {
  if (!Bun.isMainThread) return serveFromThread();
  const order = takeOrder();
  // --hot comes here again.
  if (!order) return;
  Object.defineProperty(globalThis, Symbol.for(ASK), { value: ask });
  const worker = new Worker(url) as Worker & { unref(): void };
  const go = Promise.withResolvers<void>();
  worker.onmessage = ({ data }: MessageEvent<Report>) => {
    if (data === "start") return go.resolve();
    if ("failure" in data) return refuse(order.address!, data.failure);
    if (order.address) announce(order.address, data.urls!);
    if (!order.isWaiting) go.resolve();
  };
  const [, title = ""] = process.argv;
  const { cwd, pid, version, arch } = process;
  const telemetry = { cwd: cwd(), processId: pid, nodeVersion: version, architecture: arch };
  const id = crypto.randomUUID().replaceAll("-", "").slice(8);
  worker.postMessage({ order, title, telemetry, id } satisfies Instruction);
  if (order.editor) introduce(order.editor, id, telemetry);
  const beginning = go.promise.then(() => worker.unref());
  Object.defineProperty(globalThis, Symbol.for(BEGINNING), { value: beginning });
  process.on("exit", () => {
    const isTold = new Int32Array(new SharedArrayBuffer(4));
    worker.postMessage(isTold satisfies Instruction);
    Atomics.wait(isTold, 0, 0, LONGEST_GOODBYE);
  });
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
    writeFileSync(fileCallback, JSON.stringify(telemetry));
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
  writeSync(2, `${lines.join("\n")}\n`);
}

/** As for any option that cannot be honoured: a program that nobody can debug is not what was asked for. */
function refuse({ hostnames, port }: Address, failure: string): never {
  const place = `${bracket(hostnames[0]!)}:${port}`;
  writeSync(
    2,
    `error: Cannot debug at ${place}: ${failure}\nhint: choose another port, as in --inspect=0 for any\n`,
  );
  process.exit(1);
}
