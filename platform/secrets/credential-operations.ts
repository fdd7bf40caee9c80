// What every operation of a credential store keeps, whatever the store is:
// - operations under one key run in the order in which they were called;
// - one ends for its caller when the caller's patience ends, while what it waits for may go on;
// - the process stays until the last operation has ended for its caller, and not longer.
import { type OperationOptions, ProviderFailure } from "./contract/secret-provider.ts";

const MAX_TIMER = 2 ** 31 - 1;
const NOTHING = Promise.resolve();

/** Asked between the steps of a task: whether its caller has given up. */
export type IsOver = () => boolean;

export class Operations {
  readonly #turns = new KeyedLock();
  readonly #timeout: string;
  #count = 0;
  #hold: ReturnType<typeof setInterval> | undefined;

  /** @param timeout what did not finish, and after a semicolon what to do; "$" is the time that it had */
  constructor(timeout: string) {
    this.#timeout = timeout;
  }

  async perform<T>(
    key: string,
    options: OperationOptions = {},
    task: (isOver: IsOver) => Promise<T>,
  ): Promise<T> {
    options.signal?.throwIfAborted();
    let over = false;
    this.#stay();
    try {
      // Reads too: a dialog for one of them blocks a thread, and the others are for other keys.
      const done = this.#turns.take(key, "write", async () => {
        if (over) throw new ProviderFailure("CANCELED", "The operation was given up");
        return await task(() => over);
      });
      return await orGiveUp(done, options, this.#timeout);
    } finally {
      over = true;
      this.#leave();
    }
  }

  #stay(): void {
    if (this.#count++ === 0) this.#hold = setInterval(() => {}, MAX_TIMER);
  }

  #leave(): void {
    if (--this.#count === 0) clearInterval(this.#hold);
  }
}

export type OperationKind = "read" | "write";

interface Queue {
  /** Settles when the last write that was called has ended. */
  write: Promise<unknown>;
  /** The reads that were called after it and have not ended. */
  readonly reads: Set<Promise<unknown>>;
}

/** Keeps those under one key in order: a write waits for all before it, a read for the writes before it. */
export class KeyedLock {
  readonly #queues = new Map<string, Queue>();

  /** Starts `task` when what it has to wait for has ended, at once when there is nothing. */
  take<T>(key: string, kind: OperationKind, task: () => Promise<T>): Promise<T> {
    const before = this.#queues.get(key);
    const isFree = !before || (kind === "read" && before.write === NOTHING);
    const turn = isFree
      ? task()
      : Promise.all([before.write, ...(kind === "write" ? before.reads : [])]).then(task);
    const queue = before && kind === "read" ? before : { write: NOTHING, reads: new Set<Promise<unknown>>() };
    this.#queues.set(key, queue);
    const leave = () => {
      if (kind === "read") queue.reads.delete(ended);
      else queue.write = NOTHING;
      const isIdle = queue.write === NOTHING && queue.reads.size === 0;
      if (isIdle && this.#queues.get(key) === queue) this.#queues.delete(key);
    };
    const ended = turn.then(leave, leave);
    if (kind === "read") queue.reads.add(ended);
    else queue.write = ended;
    return turn;
  }
}

/**
 * Settles as `done` does, or rejects when the caller's patience ends before.
 * @param message of the TIMEOUT; "$" is the time that there was
 */
export async function orGiveUp<T>(
  done: Promise<T>,
  { signal, timeout }: OperationOptions,
  message: string,
): Promise<T> {
  if (!signal && timeout === undefined) return await done;
  done.catch(() => {}); // nobody may be left to hear it
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal!.reason);
  const expire = () =>
    reject(new ProviderFailure("TIMEOUT", message.replace("$", `${timeout} milliseconds`)));
  const timer = timeout === undefined ? undefined : setTimeout(expire, Math.min(timeout, MAX_TIMER));
  signal?.addEventListener("abort", abort);
  try {
    return await Promise.race([done, promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}
