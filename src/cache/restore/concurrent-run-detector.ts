// Detects concurrent runs: two rt processes that run, or restore, the same script in one directory. Each process holds
// a locked marker file.
//
// Invariants:
// - Both processes detect the overlap, whatever their order and even after SIGKILL.
// - There is no race: a process creates its marker before it scans the directory. So at least one process sees the other,
//   and marks the other's file.
// - If the check fails, the run counts as concurrent.
//
// Non-obvious:
// - A marker without a lock holder is stale and is deleted.
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { errorMessage } from "../../../platform/caught-error.ts";
import type { FileLock } from "../../../platform/files/contract/file-lock.ts";
import { fileLocks } from "../../../platform/files/file-lock.ts";
import { hashBytes } from "../store/file-hash-cache.ts";
import { NotCacheableError } from "../entry/not-cacheable-error.ts";

const MARK = ".met";

export class ConcurrentRunDetector {
  readonly #path: string;
  #lock: FileLock | undefined;
  #isConcurrent = false;
  /** Why the check failed. */
  #failure: string | undefined;

  /**
   * @param directory the store's directory of marker files
   * @param script its name and its directory
   * @param draft a free path on the same file system
   */
  constructor(directory: string, script: readonly string[], draft: string) {
    const scriptHash = hashBytes(JSON.stringify(script));
    const own = `${scriptHash}-${crypto.randomUUID()}`;
    this.#path = join(directory, own);
    try {
      this.#lock = fileLocks.lockFile(this.#path, draft);
      for (const other of sweep(directory, scriptHash)) {
        if (other === own) continue;
        this.#isConcurrent = true;
        writeFileSync(join(directory, other + MARK), "", { mode: 0o600 });
      }
    } catch (error) {
      this.#failure = errorMessage(error);
    }
  }

  /** @throws NotCacheableError if another process ran or restored the script since the constructor */
  requireNoConcurrentRun(): void {
    if (this.#failure !== undefined) throw new NotCacheableError("store", this.#failure);
    const isMarked = existsSync(this.#path + MARK) || !existsSync(this.#path);
    if (this.#isConcurrent || isMarked) throw new NotCacheableError("overlapped", "");
  }

  release(): void {
    const lock = this.#lock;
    this.#lock = undefined;
    if (!lock) return;
    try {
      lock.release();
      rmSync(this.#path + MARK, { force: true });
    } catch {
      // A later sweep deletes the files.
    }
  }
}

/** Deletes stale markers and returns the held ones. @param scriptHash only these; all by default */
export function sweep(directory: string, scriptHash = ""): string[] {
  const isThere = (name: string) => fileLocks.isLocked(join(directory, name));
  const names = readdirSync(directory).filter((name) => name.startsWith(scriptHash));
  return names.filter((name) => {
    // The lock is checked here: a mark may be newer than the directory listing.
    const isHeld = isThere(name.replace(MARK, ""));
    if (!isHeld) rmSync(join(directory, name), { force: true });
    return isHeld && !name.endsWith(MARK);
  });
}
