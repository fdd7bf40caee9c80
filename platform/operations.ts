// What every operation of a credential store keeps, whatever the store is:
// - operations under one key run in the order in which they were called;
// - one ends for its caller when the caller's patience ends, while what it waits for may go on;
// - the process stays until the last operation has ended for its caller, and not longer.
import { type OperationOptions, ProviderFailure } from "./secret-provider.ts";

const MAX_TIMER = 2 ** 31 - 1;

/** Asked between the steps of a task: whether its caller has given up. */
export type IsOver = () => boolean;

export class Operations {
  readonly #turns = new Turns();
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
      const done = this.#turns.take(key, async () => {
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

/** Keeps those under one key in order. */
export class Turns {
  /** The last one under way for each key. */
  readonly #last = new Map<string, Promise<void>>();

  /** Starts `task` when those before it under the same key have ended. */
  take<T>(key: string, task: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const done = before ? before.then(task) : task();
    const leave = () => {
      if (this.#last.get(key) === turn) this.#last.delete(key);
    };
    const turn = done.then(leave, leave);
    this.#last.set(key, turn);
    return done;
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
