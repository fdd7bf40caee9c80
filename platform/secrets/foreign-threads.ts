// Foreign functions that may take their time (a keychain's dialog, a security service that is asked over RPC),
// called in threads of their own, so that the caller's event loop never waits.
//
//   const threads = new ForeignThreads([{ path: "advapi32.dll", symbols: { CredReadW: { args, returns } } }]);
//   await threads.use(async (call) => (await call("CredReadW", [target, 1, 0, out])).value);
//
// A thread knows nothing but how to open libraries and to call a function by its name with numbers. Memory belongs to
// the process, so an address that the caller takes of its own buffer is good in every thread; what is passed to a
// call stays referenced until its answer is there, however long that takes and whoever still waits for it.
//
// A task has its thread for itself from its first call to its last, for what the system ties to a thread (mutexes,
// the last error). The first thread starts with the first task, each further one when all others have been busy with
// the same tasks for a while: many quick tasks are done sooner by one thread than by several that must start first.
// Threads never keep the process: see credential-operations.ts.
//
// Surprising: the thread's script is the text of the function `serve`. Neither a program that was started as the
// engine nor a bundle without files has anything else to start a worker from. It must therefore mention nothing
// from outside itself. The engine's own Worker is reached through its prototype, since the global one is wrapped to
// bring `rt` along.
import { ptr } from "bun:ffi";

/** As bun:ffi writes it. */
export interface ForeignSymbol {
  readonly args: readonly string[];
  readonly returns: string;
}

export interface ForeignLibrary {
  readonly path: string;
  readonly symbols: Readonly<Record<string, ForeignSymbol>>;
}

/** A buffer stands for its address, null for no address. */
export type ForeignArgument = number | bigint | NodeJS.TypedArray | null;

export interface ForeignResult {
  readonly value: number | bigint;
  /** What `errorFrom` answered right after the call; 0 without it. */
  readonly error: number;
}

/** @param keep buffers that are pointed to by those among `args` */
export type ForeignCall = (
  symbol: string,
  args: readonly ForeignArgument[],
  keep?: readonly unknown[],
) => Promise<ForeignResult>;

interface Opening {
  readonly libraries: readonly ForeignLibrary[];
  readonly errorFrom: string | undefined;
}

type ThreadReply = { readonly value: number | bigint; readonly error: number } | { readonly failure: string };

/** Milliseconds without any progress after which a waiting task gets a thread of its own. */
const STANDSTILL = 100;

interface Thread {
  readonly call: ForeignCall;
}

export class ForeignThreads {
  readonly #opening: Opening;
  readonly #most: number;
  readonly #idle: Thread[] = [];
  readonly #waiting: ((thread: Thread) => void)[] = [];
  #count = 0;
  /** How many tasks have ended. */
  #ended = 0;
  #growth: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param errorFrom the function without parameters that tells why the last one failed, among the libraries' own
   * @param most threads at once; two at least, or one that waits for a person holds up everything
   */
  constructor(
    libraries: readonly ForeignLibrary[],
    { errorFrom, most = 4 }: { errorFrom?: string; most?: number } = {},
  ) {
    this.#opening = { libraries, errorFrom };
    this.#most = most;
  }

  /** Rejects as `task` does, or with an Error when a library or a function is not there. */
  async use<T>(task: (call: ForeignCall) => Promise<T>): Promise<T> {
    const thread = await this.#borrow();
    try {
      return await task(thread.call);
    } finally {
      this.#ended++;
      const next = this.#waiting.shift();
      if (next) next(thread);
      else this.#idle.push(thread);
    }
  }

  #borrow(): Thread | Promise<Thread> {
    const idle = this.#idle.pop();
    if (idle) return idle;
    if (this.#count === 0) return this.#start();
    this.#growLater();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #start(): Thread {
    this.#count++;
    return startThread(this.#opening);
  }

  #growLater(): void {
    if (this.#growth || this.#count === this.#most) return;
    const ended = this.#ended;
    this.#growth = setTimeout(() => {
      this.#growth = undefined;
      if (this.#waiting.length === 0) return;
      if (this.#ended === ended) this.#waiting.shift()!(this.#start());
      this.#growLater();
    }, STANDSTILL);
    this.#growth.unref();
  }
}

function startThread(opening: Opening): Thread {
  const EngineWorker = Worker.prototype.constructor as typeof Worker;
  const script = URL.createObjectURL(new Blob([`(${serve.toString()})()`], { type: "text/javascript" }));
  const worker = new EngineWorker(script, { ref: false, smol: true });
  /** In the order of the calls, which is that of the answers. */
  const waiting: ((reply: ThreadReply) => void)[] = [];
  let failure: ThreadReply | undefined;
  worker.onmessage = ({ data }: MessageEvent<ThreadReply>) => waiting.shift()!(data);
  worker.onerror = ({ message }) => {
    failure = { failure: message };
    for (const settle of waiting.splice(0)) settle(failure);
  };
  worker.postMessage(opening);
  const call: ForeignCall = async (symbol, args, keep = []) => {
    const held = [args, keep];
    const addresses = args.map((arg) => (ArrayBuffer.isView(arg) ? ptr(arg) : (arg ?? 0)));
    const reply =
      failure ??
      (await new Promise<ThreadReply>((resolve) => {
        waiting.push((answer) => {
          held.length = 0;
          resolve(answer);
        });
        worker.postMessage([symbol, addresses]);
      }));
    if ("failure" in reply) throw new Error(reply.failure);
    return reply;
  };
  return { call };
}

/** The whole of the thread's script; the first message is an Opening, each other one a call. */
function serve(): void {
  type Functions = Record<string, (...args: unknown[]) => number | bigint>;
  const scope = globalThis as unknown as {
    onmessage: (event: { data: unknown }) => void;
    postMessage(reply: unknown): void;
  };
  const functions: Functions = {};
  let lastError: (() => number | bigint) | undefined;
  let failure: string | undefined;
  scope.onmessage = ({ data }) => {
    try {
      if (!Array.isArray(data)) {
        const ffi = process.getBuiltinModule("bun:ffi" as "module") as unknown as typeof import("bun:ffi");
        const { libraries, errorFrom } = data as Opening;
        for (const { path, symbols } of libraries) {
          Object.assign(functions, ffi.dlopen(path, symbols as never).symbols);
        }
        lastError = errorFrom === undefined ? undefined : functions[errorFrom];
        lastError?.(); // the first call makes the function, which may change what it is to tell
        return;
      }
      if (failure !== undefined) return scope.postMessage({ failure });
      const [symbol, args] = data as [string, unknown[]];
      const value = functions[symbol]!(...args);
      const error = lastError === undefined ? 0 : Number(lastError());
      scope.postMessage({ value, error });
    } catch (error) {
      const { message } = error as Error;
      if (Array.isArray(data)) scope.postMessage({ failure: message });
      else failure = message;
    }
  };
}
