// Watches directories one by one, because a recursive watch would include node_modules.
//
// Non-obvious: the system limits the number of watches. Directories beyond the limit are skipped and counted.
import type { FSWatcher } from "node:fs";
import { errorCode } from "../../platform/caught-error.ts";
import { startOf } from "./gitignore.ts";

/** Loaded on demand: runs without --watch load this module too. */
const fs = () => process.getBuiltinModule("node:fs");

interface DirectoryListener {
  /** `isRenamed`: the path was created, deleted or renamed. */
  onEvent(directory: string, path: string, isRenamed: boolean): void;
  /** The directory does not exist any more. */
  onLost(directory: string): void;
}

export class DirectoryWatches implements Disposable {
  /** Number of directories that could not be watched, with the last error code. */
  readonly unwatched = { count: 0, code: "" };
  readonly #watchers = new Map<string, { readonly watcher: FSWatcher; readonly identity: string }>();
  readonly #listener: DirectoryListener;

  constructor(listener: DirectoryListener) {
    this.#listener = listener;
  }

  get size(): number {
    return this.#watchers.size;
  }

  has(directory: string): boolean {
    return this.#watchers.has(directory);
  }

  add(directory: string): boolean {
    if (this.has(directory)) return true;
    try {
      const watcher = fs().watch(directory, (event, name) => {
        if (name !== null) this.#listener.onEvent(directory, startOf(directory) + name, event === "rename");
      });
      watcher.on("error", () => this.#listener.onLost(directory));
      this.#watchers.set(directory, { watcher, identity: identityOf(directory) });
      return true;
    } catch (error) {
      const code = errorCode(error) ?? "";
      if (code === "ENOSPC" || code === "EMFILE") {
        this.unwatched.count += 1;
        this.unwatched.code = code;
      }
      return false; // otherwise it was deleted concurrently, or is not readable
    }
  }

  /** Ends the watches of a directory and of those below it, and returns them. */
  remove(path: string): string[] {
    const removed = [...this.#watchers.keys()].filter(
      (directory) => directory === path || directory.startsWith(startOf(path)),
    );
    for (const directory of removed) {
      this.#watchers.get(directory)!.watcher.close();
      this.#watchers.delete(directory);
    }
    return removed;
  }

  /**
   * Whether the path is another directory than the watched one. The system reports no events for a replaced
   * directory.
   */
  isReplaced(directory: string): boolean {
    const watched = this.#watchers.get(directory);
    return watched !== undefined && watched.identity !== identityOf(directory);
  }

  [Symbol.dispose](): void {
    for (const { watcher } of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }
}

export function listDirectory(directory: string) {
  try {
    return fs().readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}

export function isDirectory(path: string): boolean {
  return fs().statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Includes the creation time, because the system reuses inode numbers. */
function identityOf(path: string): string {
  const stat = fs().statSync(path, { throwIfNoEntry: false });
  return stat ? `${stat.dev} ${stat.ino} ${stat.birthtimeMs}` : "";
}
