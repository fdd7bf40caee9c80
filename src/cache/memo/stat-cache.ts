// Caches `lstat`, `readdir` and `realpath` results for one run, because its scripts share most inputs.
//
// Invariants:
// - The cache is disabled when the first script starts; in watch mode, before the first lookup.
// - Restoring outputs and waiting for another process invalidate it. So no script is validated against an outdated
//   state.
import type { ListDirectory, StatPath, PathState } from "../../../platform/tracing/contract/tracing.ts";
import { directories } from "../../../platform/files/directories.ts";
import { listDirectoryNames, statPath } from "../../../platform/files/path-state.ts";
import type { RecordedDependency } from "../entry/entry.ts";

export type ResolveDirectory = (path: string) => string;

export class StatCache {
  readonly #states = new Map<string, PathState>();
  readonly #names = new Map<string, readonly string[] | null>();
  readonly #resolved = new Map<string, string>();
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

  /** Returns the directory without links; the same path if it does not exist. */
  readonly resolve: ResolveDirectory = (path) => {
    const cached = this.#resolved.get(path);
    if (cached !== undefined) return cached;
    const resolved = directories.resolveDirectory(path) ?? path;
    if (!this.#isFinished) this.#resolved.set(path, resolved);
    return resolved;
  };

  /** Returns null if the dependency matches, the mismatch as text, or undefined if it was not validated. */
  cachedVerdict(condition: RecordedDependency): string | null | undefined {
    return this.#verdicts.get(condition);
  }

  /** @param generation value of `generation` before the validation */
  storeVerdict(condition: RecordedDependency, verdict: string | null, generation: number): void {
    if (!this.#isFinished && generation === this.generation) this.#verdicts.set(condition, verdict);
  }

  /** Increases with each invalidation. */
  generation = 0;

  invalidate(): void {
    this.generation += 1;
    for (const each of [this.#states, this.#names, this.#resolved, this.#verdicts]) each.clear();
  }

  /** Disables the cache: from now on files may change at any time. */
  end(): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.invalidate();
  }
}
