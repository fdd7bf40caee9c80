// Calls blocking foreign functions (a keychain's dialog, an RPC security service) in worker threads, so that the event loop never
// blocks: `threads.use(async (call) => (await call("CredReadW", [target, 1, 0, out])).value)`.
//
// Invariants:
// - A task has its thread exclusively, because the system binds mutexes and the last error to a thread.
// - Buffers stay referenced until the call returns, even after a timeout or abort. Addresses are valid in every thread.
// - A thread is added only when all others have made no progress for `STANDSTILL`. For short tasks one started thread is faster.
//
// Non-obvious: the worker's source is the text of `serve`, because a bundle without files has no other source. It must reference
// nothing outside itself. The engine's Worker is reached through its prototype: the global one is wrapped to preload `rt`.
import { ptr } from "bun:ffi";

/** As in bun:ffi. */
export interface ForeignSymbol {
  readonly args: readonly string[];
  readonly returns: string;
}

export interface ForeignLibrary {
  readonly path: string;
  readonly symbols: Readonly<Record<string, ForeignSymbol>>;
}

/** A buffer is passed as its address, null as a null pointer. */
export type ForeignArgument = number | bigint | NodeJS.TypedArray | null;

export interface ForeignResult {
  readonly value: number | bigint;
  /** Result of `errorFrom` right after the call; 0 without it. */
  readonly error: number;
}

/** @param keep buffers that structures among `args` point to */
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

/** Milliseconds without progress after which a waiting task gets a new thread. */
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
  #ended = 0;
  #growth: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param errorFrom parameterless function of the libraries that returns the error of the last call
   * @param most maximum number of threads; at least two, because a dialog blocks one
   */
  constructor(
    libraries: readonly ForeignLibrary[],
    { errorFrom, most = 4 }: { errorFrom?: string; most?: number } = {},
  ) {
    this.#opening = { libraries, errorFrom };
    this.#most = most;
  }

  /** Rejects as `task` does, or with an Error if a library or function is missing. */
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
  /** In call order, which is the order of the replies. */
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

/** The thread's complete source. The first message is an Opening, each other one a call. */
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
        lastError?.(); // the engine compiles a function on its first call, which may change the last error
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
