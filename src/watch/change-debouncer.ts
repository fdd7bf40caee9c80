// From events to reasons: which files have changed so that the script is to start again.
//
// Contract: saves come in bursts (an editor renames and writes, Git checks out a thousand files), and a burst is one
// reason: it is over when nothing has happened for QUIET, Git does not hold its lock, and no file is empty that a program may
// be about to fill. What changed up to a start is no reason to start again.
import { type WatchScope, type SourceWatcher, watchSources } from "./source-watcher.ts";
import { Contents } from "./content-snapshot.ts";
import { startOf } from "./gitignore.ts";
import { HOLD, SelfWriteDetector, type ScriptRun } from "./self-writes.ts";

const QUIET = 25; // ms
/** A burst that does not end, and a lock that was left behind, are not waited for any longer. */
const LONGEST = 1_000; // ms
const LONGEST_LOCK = 10_000; // ms

export interface RestartListener {
  /** Absolute paths, at least one. */
  onReason(paths: readonly string[]): void;
  /** The script writes it with each start; it is left alone from now on. */
  onNamed(path: string): void;
  /** The run that a change of this file would start again. */
  runOf(path: string): ScriptRun;
  /** Whether that is known of this file, so that nothing has to be made of when it is written: src/cache/tracing/recorded-inputs.ts. */
  isExact?(path: string): boolean;
  /** Whether a file counts whatever is said of others like it. */
  isInput?(path: string): boolean;
}

export class ChangeDebouncer implements Disposable {
  readonly #contents = new Contents();
  readonly #ownWrites = new SelfWriteDetector();
  readonly #listener: RestartListener;
  readonly #lock: string;
  readonly watcher: SourceWatcher;
  /** When the first event of each came. */
  readonly #pending = new Map<string, number>();
  readonly #held = new Set<string>();
  #quiet: Timer | undefined;
  #hold: Timer | undefined;
  /** What has been given since the start. */
  #reasons: string[] = [];

  /** @param top the directory whose Git decides when a burst is over */
  constructor(scope: WatchScope, top: string, listener: RestartListener) {
    this.#listener = listener;
    this.#lock = `${startOf(top)}.git/index.lock`;
    this.watcher = watchSources(scope, {
      isInput: listener.isInput && ((path) => listener.isInput!(path)),
      onChange: (path) => this.#note(path),
      onFound: (path) => this.#contents.note(path),
    });
  }

  /**
   * A run is about to start: it finds every file as it is now. Where others go on, they have yet to hear of what concerns
   * them.
   */
  begin(concerns: (path: string) => boolean = () => true): void {
    const seen = [...this.#pending.keys(), ...this.#reasons, ...this.#held].filter(concerns);
    for (const path of this.#expand(seen)) this.#contents.look(path);
    for (const path of seen) {
      this.#pending.delete(path);
      this.#held.delete(path);
    }
    this.#reasons = this.#reasons.filter((path) => !seen.includes(path));
    if (this.#pending.size === 0) {
      clearTimeout(this.#quiet);
      this.#quiet = undefined;
    }
    if (this.#held.size === 0) clearTimeout(this.#hold);
  }

  #note(path: string): void {
    if (!this.#pending.has(path)) this.#pending.set(path, Date.now());
    const [first] = this.#pending.values();
    if (this.#quiet !== undefined && Date.now() - first! > LONGEST) return;
    clearTimeout(this.#quiet);
    // Where the process was kept waiting, the time is over before what has come meanwhile was read: one more turn reads it.
    this.#quiet = setTimeout(() => {
      this.#quiet = setTimeout(() => this.#settle(), 0);
    }, QUIET);
  }

  #settle(): void {
    this.#quiet = undefined;
    const [first] = this.#pending.values();
    if (first === undefined) return;
    if (this.#isUnfinished(Date.now() - first)) {
      this.#quiet = setTimeout(() => this.#settle(), QUIET);
      return;
    }
    const reasons: string[] = [];
    for (const path of this.#expand([...this.#pending.keys()])) {
      const { isEqual, changedAt } = this.#contents.look(path);
      if (this.#listener.isExact?.(path)) {
        reasons.push(path);
        continue;
      }
      const seenAt = this.#pending.get(path) ?? first;
      const at = Math.min(seenAt, changedAt ?? seenAt);
      const verdict = this.#ownWrites.judge({ path, isEqual, at }, this.#listener.runOf(path));
      if (verdict === "restart") reasons.push(path);
      if (verdict === "hold") this.#held.add(path);
      if (verdict === "named") this.#listener.onNamed(path);
      if (verdict === "named") this.#held.delete(path);
    }
    this.#pending.clear();
    if (reasons.length > 0) this.#give(reasons);
    else if (this.#held.size > 0) {
      clearTimeout(this.#hold);
      this.#hold = setTimeout(() => this.#give([...this.#held]), HOLD);
    }
  }

  /** @param age of the burst, in milliseconds */
  #isUnfinished(age: number): boolean {
    if (age < LONGEST && [...this.#pending.keys()].some((path) => this.#contents.isEmptied(path)))
      return true;
    return age < LONGEST_LOCK && process.getBuiltinModule("node:fs").existsSync(this.#lock);
  }

  #give(reasons: readonly string[]): void {
    this.#reasons.push(...reasons);
    this.#listener.onReason(reasons);
  }

  /** A directory that is gone stands for what was in it. */
  #expand(paths: readonly string[]): string[] {
    return [...new Set(paths.flatMap((path) => [path, ...this.#contents.below(path)]))];
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#quiet);
    clearTimeout(this.#hold);
    this.watcher[Symbol.dispose]();
  }
}
