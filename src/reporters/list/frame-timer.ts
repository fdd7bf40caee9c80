// Decides when the next frame is drawn.
//
// Invariants:
// - At most MAX_FRAMES frames a second are drawn, apart from those that must not wait, as after a key.
// - Frames do not overlap.
// - Frames take at most a third of the time, so a task that prints much is not slowed down.

const MAX_FRAMES = 30;

export class FrameTimer {
  readonly #refresh: () => Promise<void>;
  #timer: Timer | undefined;
  #isRefreshing = false;
  #isRequested = false;
  #end = 0;
  #duration = 0;

  /** @param refresh draws a frame with all output up to now */
  constructor(refresh: () => Promise<void>) {
    this.#refresh = refresh;
  }

  request(): void {
    if (this.#isRefreshing) {
      this.#isRequested = true;
      return;
    }
    const at = this.#end + Math.max(1000 / MAX_FRAMES, 2 * this.#duration);
    this.#timer ??= setTimeout(() => void this.run(), Math.max(at - performance.now(), 0));
  }

  /** Draws a frame now, or after the one that is being drawn. */
  async run(): Promise<void> {
    this.cancel();
    if (this.#isRefreshing) return this.request();
    this.#isRefreshing = true;
    const begin = performance.now();
    await this.#refresh();
    this.#end = performance.now();
    this.#duration = this.#end - begin;
    this.#isRefreshing = false;
    if (!this.#isRequested) return;
    this.#isRequested = false;
    this.request();
  }

  cancel(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isRequested = false;
  }
}
