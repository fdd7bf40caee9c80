// What every operation of a credential store keeps, whatever the store is:
// - operations under one key run in the order in which they were called;
// - one ends for its caller when the caller's patience ends, while what it waits for may go on;
// - the process stays until the last operation has ended for its caller, and not longer.
import { type OperationOptions, ProviderFailure } from "./secret-provider.ts";

const MAX_TIMER = 2 ** 31 - 1;

/** Asked between the steps of a task: whether its caller has given up. */
export type IsOver = () => boolean;

export class Operations {
  /** The last operation under way for each key. */
  readonly #turns = new Map<string, Promise<void>>();
  readonly #timeout: string;
  #count = 0;
  #hold: ReturnType<typeof setInterval> | undefined;

  /** @param timeout what did not finish, and after a semicolon what to do; "$" is the time that it had */
  constructor(timeout: string) {
    this.#timeout = timeout;
  }

  async perform<T>(
    key: string,
    { signal, timeout }: OperationOptions = {},
    task: (isOver: IsOver) => Promise<T>,
  ): Promise<T> {
    signal?.throwIfAborted();
    let over = false;
    this.#stay();
    try {
      const done = this.#inTurn(key, async () => {
        if (over) throw new ProviderFailure("CANCELED", "The operation was given up");
        return await task(() => over);
      });
      return await (signal || timeout !== undefined ? this.#orGiveUp(done, signal, timeout) : done);
    } finally {
      over = true;
      this.#leave();
    }
  }

  /** Starts `task` when those before it under the same key have ended. */
  #inTurn<T>(key: string, task: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(key);
    const done = before ? before.then(task) : task();
    const leave = () => {
      if (this.#turns.get(key) === turn) this.#turns.delete(key);
    };
    const turn = done.then(leave, leave);
    this.#turns.set(key, turn);
    return done;
  }

  /** Rejects when the caller's patience ends before `done` settles. */
  async #orGiveUp<T>(done: Promise<T>, signal?: AbortSignal, timeout?: number): Promise<T> {
    done.catch(() => {}); // nobody may be left to hear it
    const { promise, reject } = Promise.withResolvers<never>();
    const abort = () => reject(signal!.reason);
    const expire = () =>
      reject(new ProviderFailure("TIMEOUT", this.#timeout.replace("$", `${timeout} milliseconds`)));
    const timer = timeout === undefined ? undefined : setTimeout(expire, Math.min(timeout, MAX_TIMER));
    signal?.addEventListener("abort", abort);
    try {
      return await Promise.race([done, promise]);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
  }

  #stay(): void {
    if (this.#count++ === 0) this.#hold = setInterval(() => {}, MAX_TIMER);
  }

  #leave(): void {
    if (--this.#count === 0) clearInterval(this.#hold);
  }
}
