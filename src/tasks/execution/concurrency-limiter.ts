// Priority queue with a concurrency limit, for background jobs of a shared run. Jobs of equal rank run in order
// of arrival.

export class ConcurrencyLimiter {
  readonly #limit: number;
  readonly #waiting: { readonly rank: number; start(): void }[] = [];
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @param rank jobs with a greater rank start first */
  async run<T>(rank: number, job: () => Promise<T>): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ rank, start: resolve });
    // Deferred, so that the rank decides among jobs that arrive in the same turn.
    queueMicrotask(() => this.#startReady());
    await promise;
    try {
      return await job();
    } finally {
      this.#running -= 1;
      this.#startReady();
    }
  }

  #startReady(): void {
    while (this.#running < this.#limit && this.#waiting.length > 0) {
      let best = 0;
      for (const [at, { rank }] of this.#waiting.entries()) if (rank > this.#waiting[best]!.rank) best = at;
      this.#running += 1;
      this.#waiting.splice(best, 1)[0]!.start();
    }
  }
}
