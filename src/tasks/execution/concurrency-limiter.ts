// A few jobs at a time, those first that matter most, and of those that came first: for what a machine does beside running
// scripts.

export class ConcurrencyLimiter {
  readonly #limit: number;
  readonly #waiting: { readonly rank: number; start(): void }[] = [];
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @param rank the greater, the sooner */
  async run<T>(rank: number, job: () => Promise<T>): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ rank, start: resolve });
    // Of several that come at once the first is no better than the others.
    queueMicrotask(() => this.#go());
    await promise;
    try {
      return await job();
    } finally {
      this.#running -= 1;
      this.#go();
    }
  }

  #go(): void {
    while (this.#running < this.#limit && this.#waiting.length > 0) {
      let best = 0;
      for (const [at, { rank }] of this.#waiting.entries()) if (rank > this.#waiting[best]!.rank) best = at;
      this.#running += 1;
      this.#waiting.splice(best, 1)[0]!.start();
    }
  }
}
