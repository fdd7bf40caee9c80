// What was seen of files before anything had run: scripts of one run mostly depend on the same ones, so each is looked at once.
//
// Contract: it ends with the first script that is started, whatever that does, and in a watched run before the first one is
// looked for. What is put back, and whoever is waited for, makes it begin anew. So a script is never judged by what was
// there before something that came earlier in the same run.
import type { ListDirectory, StatPath, PathState } from "../../../platform/tracing/contract/tracing.ts";
import { listDirectoryNames, statPath } from "../../../platform/files/path-state.ts";
import type { RecordedDependency } from "../entry/entry.ts";

export class StatCache {
  readonly #states = new Map<string, PathState>();
  readonly #names = new Map<string, readonly string[] | null>();
  readonly #verdicts = new Map<RecordedDependency, string | null>();
  #isFinished = false;

  readonly stat: StatPath = (path) => {
    const cached = this.#states.get(path);
    if (cached) return cached;
    const state = statPath(path);
    if (!this.#isFinished) this.#states.set(path, state);
    return state;
  };

  readonly list: ListDirectory = (path) => {
    const cached = this.#names.get(path);
    if (cached !== undefined) return cached;
    const names = listDirectoryNames(path);
    if (!this.#isFinished) this.#names.set(path, names);
    return names;
  };

  /** Of a condition that several entries share: null where it is met, the difference, or undefined for nobody knows. */
  cachedVerdict(condition: RecordedDependency): string | null | undefined {
    return this.#verdicts.get(condition);
  }

  /** @param generation what `generation` was before it was looked at */
  storeVerdict(condition: RecordedDependency, verdict: string | null, generation: number): void {
    if (!this.#isFinished && generation === this.generation) this.#verdicts.set(condition, verdict);
  }

  /** Another number after something may have changed. */
  generation = 0;

  /** Something may have changed. */
  invalidate(): void {
    this.generation += 1;
    for (const each of [this.#states, this.#names, this.#verdicts]) each.clear();
  }

  /** From now on something may change at any time. */
  end(): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.invalidate();
  }
}
