// Debounces file events and decides which changes restart the script.
//
// Invariants:
// - A burst of events (an editor's save, a Git checkout) is one reason. It has ended when there was no event for DEBOUNCE and Git
//   does not hold its index lock. Also no file may be empty that a program may be about to write.
// - Changes before a start do not restart the script.
import { SourceWatcher } from "./source-watcher.ts";
import { ContentSnapshot } from "./content-snapshot.ts";
import { startOf } from "./gitignore.ts";
import type { WatchScope } from "./watch-selection.ts";
import { HOLD_TIME, SelfWriteDetector, type ScriptRun } from "./self-writes.ts";

const DEBOUNCE = 25; // ms
/** Maximum wait for the end of a burst or of a stale lock, in milliseconds. */
const MAX_BURST = 1_000; // ms
const MAX_LOCK_WAIT = 10_000; // ms

export interface RestartListener {
  /** Called with at least one absolute path. */
  onReason(paths: readonly string[]): void;
  /** The script writes the file at each start; it is ignored from now on. */
  onNamed(path: string): void;
  /** The run that a change of the file would restart. */
  runOf(path: string): ScriptRun;
  /**
   * Whether self-writes of the file are known exactly, so that no heuristic is needed
   * (src/cache/tracing/recorded-inputs.ts).
   */
  isExact?(path: string): boolean;
  /** Whether a file is watched regardless of the source rules. */
  isInput?(path: string): boolean;
}

export class ChangeDebouncer implements Disposable {
  readonly #snapshot = new ContentSnapshot();
  readonly #selfWrites = new SelfWriteDetector();
  readonly #listener: RestartListener;
  readonly #lock: string;
  readonly watcher: SourceWatcher;
  /** Time of the first event of each path. */
  readonly #pending = new Map<string, number>();
  readonly #held = new Set<string>();
  #debounceTimer: Timer | undefined;
  #holdTimer: Timer | undefined;
  /** The last look found the burst unfinished. */
  #isWaiting = false;
  /** Reasons reported since the start. */
  #reasons: string[] = [];

  /** @param top the directory whose Git index lock extends a burst */
  constructor(scope: WatchScope, top: string, listener: RestartListener) {
    this.#listener = listener;
    this.#lock = `${startOf(top)}.git/index.lock`;
    this.watcher = new SourceWatcher(scope, {
      isInput: listener.isInput && ((path) => listener.isInput!(path)),
      onChange: (path) => this.#recordEvent(path),
      onFound: (path) => this.#snapshot.add(path),
    });
  }

  /**
   * Discards pending changes, because a run is about to start and reads the present files. `concerns` limits that
   * to the files of the tasks that start.
   */
  begin(concerns: (path: string) => boolean = () => true): void {
    const obsolete = [...this.#pending.keys(), ...this.#reasons, ...this.#held].filter(concerns);
    for (const path of this.#expand(obsolete)) this.#snapshot.compareAndUpdate(path);
    for (const path of obsolete) {
      this.#pending.delete(path);
      this.#held.delete(path);
    }
    this.#reasons = this.#reasons.filter((path) => !obsolete.includes(path));
    if (this.#pending.size === 0) {
      clearTimeout(this.#debounceTimer);
      this.#debounceTimer = undefined;
    }
    if (this.#held.size === 0) clearTimeout(this.#holdTimer);
  }

  #recordEvent(path: string): void {
    if (!this.#pending.has(path)) this.#pending.set(path, Date.now());
    const [first] = this.#pending.values();
    if (this.#debounceTimer !== undefined && Date.now() - first! > MAX_BURST) return;
    clearTimeout(this.#debounceTimer);
    // If the process was blocked, the timer fires before pending events are read. One more turn reads them.
    this.#debounceTimer = setTimeout(() => {
      this.#debounceTimer = setTimeout(() => this.#settle(), 0);
    }, DEBOUNCE);
  }

  #settle(): void {
    this.#debounceTimer = undefined;
    const [first] = this.#pending.values();
    if (first === undefined) return;
    const isUnfinished = this.#isUnfinished(Date.now() - first);
    // Events from before Git released its lock may not have been read yet, so the end is confirmed once.
    if (isUnfinished || this.#isWaiting) {
      this.#isWaiting = isUnfinished;
      this.#debounceTimer = setTimeout(() => this.#settle(), DEBOUNCE);
      return;
    }
    const reasons: string[] = [];
    for (const path of this.#expand([...this.#pending.keys()])) {
      const { isEqual, changedAt } = this.#snapshot.compareAndUpdate(path);
      if (this.#listener.isExact?.(path)) {
        reasons.push(path);
        continue;
      }
      const observedAt = this.#pending.get(path) ?? first;
      const at = Math.min(observedAt, changedAt ?? observedAt);
      const verdict = this.#selfWrites.classify({ path, isEqual, at }, this.#listener.runOf(path));
      if (verdict === "restart") reasons.push(path);
      if (verdict === "hold") this.#held.add(path);
      if (verdict === "named") this.#listener.onNamed(path);
      if (verdict === "named") this.#held.delete(path);
    }
    this.#pending.clear();
    if (reasons.length > 0) this.#report(reasons);
    else if (this.#held.size > 0) {
      clearTimeout(this.#holdTimer);
      this.#holdTimer = setTimeout(() => this.#report([...this.#held]), HOLD_TIME);
    }
  }

  /** @param age of the burst, in milliseconds */
  #isUnfinished(age: number): boolean {
    if (age < MAX_BURST && [...this.#pending.keys()].some((path) => this.#snapshot.isEmptied(path)))
      return true;
    return age < MAX_LOCK_WAIT && process.getBuiltinModule("node:fs").existsSync(this.#lock);
  }

  #report(reasons: readonly string[]): void {
    this.#reasons.push(...reasons);
    this.#listener.onReason(reasons);
  }

  /** A deleted directory represents all its files. */
  #expand(paths: readonly string[]): string[] {
    return [...new Set(paths.flatMap((path) => [path, ...this.#snapshot.below(path)]))];
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#debounceTimer);
    clearTimeout(this.#holdTimer);
    this.watcher[Symbol.dispose]();
  }
}
