// Ordering and timeouts of credential-store operations, for every store.
//
// Invariants:
// - Operations under one key run in call order.
// - An operation ends for its caller at the caller's timeout, while the system call may continue.
// - The process stays alive until the last operation has ended for its caller, and no longer.
import { type OperationOptions, ProviderFailure } from "./contract/secret-provider.ts";

const MAX_TIMER = 2 ** 31 - 1;
const NOTHING = Promise.resolve();

/** Returns whether the operation has timed out or was aborted. Called between the steps of a task. */
export type IsOver = () => boolean;

export class Operations {
  readonly #turns = new KeyedLock();
  readonly #timeout: string;
  #count = 0;
  #hold: ReturnType<typeof setInterval> | undefined;

  /** @param timeout message of a TIMEOUT: the event and, after a semicolon, the remedy; "$" is the time limit */
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
      // Reads take a turn too: a dialog for one of them blocks a thread.
      const done = this.#turns.take(key, "write", async () => {
        if (over) throw new ProviderFailure("CANCELED", "The operation was aborted");
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
  /** Settles when the last called write has ended. */
  write: Promise<unknown>;
  /** Reads called after that write that have not ended. */
  readonly reads: Set<Promise<unknown>>;
}

/** Serializes operations on one key: a write waits for all earlier operations, a read for earlier writes. */
export class KeyedLock {
  readonly #queues = new Map<string, Queue>();

  /** Runs `task` after the operations that it has to wait for. */
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
 * Settles as `done` does, or rejects at the caller's timeout.
 *
 * @param message of the TIMEOUT; "$" is the time limit
 */
export async function orGiveUp<T>(
  done: Promise<T>,
  { signal, timeout }: OperationOptions,
  message: string,
): Promise<T> {
  if (!signal && timeout === undefined) return await done;
  done.catch(() => {}); // the caller may have given up
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
