// What a program that is debugged loads first: the thread that speaks with debuggers, and the wait for one of them.
//
// This file is both, since it is one script that the engine reads from the file system (see run/engine/debugger.ts); in the
// thread it serves. It is loaded before anything else of rt's, which then finds the environment without the order.
//
// Surprising: the engine can wait by itself, but then nothing runs that could serve; so the program waits in a module that
// does nothing else (run/engine/debugger.ts). It is the last of rt's, because who stops at the next statement must not come
// across one of rt's.
import { writeSync } from "node:fs";
import { type Address, bracket } from "./address.ts";
import { ASK, ask } from "./inside.ts";
import { BEGINNING, ORDER, type Order } from "./order.ts";
import { type Serving, serve } from "./server.ts";
import { removeSocket, takeSocket } from "./socket.ts";

/** What the thread is told: first what to do, and last that the program ends, with a cell to set when that was passed on. */
type Instruction = (Order & { readonly title: string }) | Int32Array<SharedArrayBuffer>;

type Report = { readonly urls: Serving["urls"] } | { readonly failure: string } | "start";

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
    if ("failure" in data) return refuse(order.address, data.failure);
    announce(order.address, data.urls);
    if (!order.isWaiting) go.resolve();
  };
  worker.postMessage({ ...order, title: process.argv[1] ?? "" } satisfies Instruction);
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

function serveFromThread(): void {
  const scope = globalThis as unknown as Worker;
  let serving: Serving | undefined;
  let socket: string | undefined;
  scope.onmessage = async ({ data }: MessageEvent<Instruction>) => {
    if (!("address" in data)) {
      await serving?.conclude();
      if (socket !== undefined) removeSocket(socket);
      Atomics.store(data, 0, 1);
      Atomics.notify(data, 0);
      return;
    }
    let { isWaiting } = data;
    const program = {
      title: data.title,
      stopsAtFirst: data.stopsAtFirst,
      get isWaiting() {
        return isWaiting;
      },
      start() {
        isWaiting = false;
        scope.postMessage("start" satisfies Report);
      },
    };
    try {
      socket = await takeSocket(data.socket);
      serving = serve(data.address, socket, program);
      scope.postMessage({ urls: serving.urls } satisfies Report);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      const failure = code === "EADDRINUSE" ? "the address is in use" : message;
      scope.postMessage({ failure } satisfies Report);
    }
  };
}
