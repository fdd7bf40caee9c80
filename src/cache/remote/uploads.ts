// What is uploaded beside a run: a few at a time, and none of them longer after its end than was agreed.

/** At a time. */
const MOST = 2;

export class Uploads {
  readonly #waiting: (() => Promise<void>)[] = [];
  #running = 0;
  #isOver = false;
  #whenIdle: () => void = () => {};

  /** @param job never rejects */
  add(job: () => Promise<void>): void {
    if (this.#isOver) return;
    this.#waiting.push(job);
    this.#go();
  }

  #go(): void {
    while (this.#running < MOST) {
      const job = this.#waiting.shift();
      if (!job) break;
      this.#running += 1;
      void job().finally(() => {
        this.#running -= 1;
        this.#go();
      });
    }
    if (this.#left === 0) this.#whenIdle();
  }

  get #left(): number {
    return this.#running + this.#waiting.length;
  }

  /** How many were not done in time. @param patience milliseconds */
  async finish(patience: number): Promise<number> {
    if (this.#left > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#whenIdle = resolve;
      const timer = setTimeout(resolve, patience);
      await promise;
      clearTimeout(timer);
    }
    const left = this.#left;
    this.abandon();
    return left;
  }

  /** Nothing more begins, and nobody waits. */
  abandon(): void {
    this.#isOver = true;
    this.#waiting.length = 0;
    this.#whenIdle();
  }
}
