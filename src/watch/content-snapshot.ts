// Snapshot of watched file contents, so that a write without a change does not restart the script.
//
// Invariants: all files are hashed once before the first start, up to a limit. A file beyond the limit counts as
// changed at its first event. Large files are compared by size and mtime.
import { startOf } from "./gitignore.ts";

const MAX_FILES = 20_000;
const MAX_BYTES = 64 * 2 ** 20;
const MAX_HASHED_SIZE = 2 ** 20;

/** Loaded on demand: runs without --watch load this module too. */
const fs = () => process.getBuiltinModule("node:fs");

export interface ContentComparison {
  readonly isEqual: boolean;
  /** ctime in milliseconds since 1970; undefined if the file does not exist. */
  readonly changedAt: number | undefined;
}

export class ContentSnapshot {
  readonly #fingerprints = new Map<string, string | null>();
  #bytes = 0;
  #isComplete = true;

  /** Adds a file with its present content. */
  add(path: string): void {
    this.#isComplete = this.#fingerprints.size < MAX_FILES && this.#bytes < MAX_BYTES;
    if (!this.#isComplete) return;
    const { fingerprint, size } = read(path);
    this.#fingerprints.set(path, fingerprint);
    this.#bytes += size;
  }

  /** Compares a file with the snapshot and updates it. */
  compareAndUpdate(path: string): ContentComparison {
    const { fingerprint, changedAt } = read(path);
    // A file that did not exist at the start, and was created and deleted since, has not changed.
    const before =
      this.#fingerprints.get(path) ?? (this.#isComplete || this.#fingerprints.has(path) ? null : undefined);
    const isEqual = before === fingerprint;
    this.#fingerprints.set(path, fingerprint);
    return { isEqual, changedAt };
  }

  /** Whether a file had content and is empty now: programs truncate a file before they rewrite it. */
  isEmptied(path: string): boolean {
    const fingerprint = this.#fingerprints.get(path);
    return (
      fingerprint !== undefined &&
      fingerprint !== null &&
      fingerprint !== EMPTY &&
      read(path).fingerprint === EMPTY
    );
  }

  /** Files of the snapshot below a directory. */
  below(directory: string): string[] {
    const start = startOf(directory);
    return [...this.#fingerprints].flatMap(([path, fingerprint]) =>
      fingerprint !== null && path.startsWith(start) ? [path] : [],
    );
  }
}

const EMPTY = String(Bun.hash(""));

/** `fingerprint` is null if the file does not exist. */
function read(path: string): { fingerprint: string | null; size: number; changedAt: number | undefined } {
  try {
    const stat = fs().statSync(path);
    const { size, mtimeMs, ctimeMs } = stat;
    // A read from a pipe would block.
    if (size > MAX_HASHED_SIZE || !stat.isFile())
      return { fingerprint: `${size} ${mtimeMs}`, size: 0, changedAt: ctimeMs };
    return { fingerprint: String(Bun.hash(fs().readFileSync(path))), size, changedAt: ctimeMs };
  } catch {
    return { fingerprint: null, size: 0, changedAt: undefined };
  }
}
