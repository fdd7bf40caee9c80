// Uploads during a run: a few at a time, and after the run no longer than the upload timeout.

/** Concurrent uploads. */
const MOST = 2;

interface Job {
  run(): Promise<boolean>;
  end(isDone: boolean): void;
}

export class UploadQueue {
  readonly #waiting: Job[] = [];
  #running = 0;
  #isFinished = false;
  #whenIdle: () => void = () => {};

  /** Returns the result of `run`; false if it was not started. @param run never rejects */
  async add(run: () => Promise<boolean>): Promise<boolean> {
    if (this.#isFinished) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#waiting.push({ run, end: resolve });
    this.#go();
    return await promise;
  }

  #go(): void {
    while (this.#running < MOST) {
      const job = this.#waiting.shift();
      if (!job) break;
      this.#running += 1;
      void job.run().then((isDone) => {
        this.#running -= 1;
        job.end(isDone);
        this.#go();
      });
    }
    if (this.#pending === 0) this.#whenIdle();
  }

  get #pending(): number {
    return this.#running + this.#waiting.length;
  }

  /** Returns the number of uploads that did not finish in time. */
  async finish(timeoutMs: number): Promise<number> {
    if (this.#pending > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#whenIdle = resolve;
      const timer = setTimeout(resolve, timeoutMs);
      await promise;
      clearTimeout(timer);
    }
    const pending = this.#pending;
    this.abandon();
    return pending;
  }

  /** Drops waiting uploads and resolves all waiters. */
  abandon(): void {
    this.#isFinished = true;
    for (const { end } of this.#waiting.splice(0)) end(false);
    this.#whenIdle();
  }
}
