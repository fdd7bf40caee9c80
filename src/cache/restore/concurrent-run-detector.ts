// Who runs a script in a place right now, or puts back what it makes: each has a file in the store that it holds while it does.
//
// Contract: of two whose times overlap both know, whichever came first and whichever ended first, also when one was killed.
// Each is there before it looks who else is, so at least one sees the other, and leaves a mark beside its file. Where that
// cannot be told, nobody was alone.
//
// Surprising: a file that nobody holds is what a killed rt has left; it says nothing, and goes.
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
  /** Why nobody could be told. */
  #failure: string | undefined;

  /**
   * @param directory of the store, for files of this kind alone
   * @param script what it is called and where it runs
   * @param draft a path of that file system at which nothing is
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

  /** Throws Unkept, unless nobody else has been there since it was made. */
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
      // Whoever comes next takes it away.
    }
  }
}

/** Those who are there; what others have left goes. @param place all by default */
export function sweep(directory: string, scriptHash = ""): string[] {
  const isThere = (name: string) => fileLocks.isLocked(join(directory, name));
  const names = readdirSync(directory).filter((name) => name.startsWith(scriptHash));
  return names.filter((name) => {
    // A mark goes by whose it is, looked at now: that may have come after the rest was listed.
    const isHeld = isThere(name.replace(MARK, ""));
    if (!isHeld) rmSync(join(directory, name), { force: true });
    return isHeld && !name.endsWith(MARK);
  });
}
