// Watches source files: reports files that are written, created, deleted or renamed into place.
import { parentDirectory } from "../workspace/package-json.ts";
import { DirectoryWatches, isDirectory, listDirectory } from "./directory-watches.ts";
import { type IgnoreFile, readIgnoreFile, startOf } from "./gitignore.ts";
import { type WatchScope, WatchSelection } from "./watch-selection.ts";

export interface FileEventListener {
  /**
   * May be called repeatedly for one change. `isRenamed` is set for created, deleted and renamed files. For a
   * deleted directory it gets the directory's path.
   */
  onChange(path: string, isRenamed: boolean): void;
  /** Called for each watched file that exists at the start. */
  onFound?(path: string): void;
  /** Whether a path is watched in addition to source files; only the user's ignore list excludes it. */
  isInput?(path: string): boolean;
  /** Reports renames only, no content changes. */
  readonly renamesOnly?: boolean;
}

/** Ignore files that apply to a directory's entries, from the top. */
interface DirectoryRules {
  readonly ignoreFiles: readonly IgnoreFile[];
  readonly isDeep: boolean;
}

export class SourceWatcher implements Disposable {
  readonly #selection: WatchSelection;
  readonly #listener: FileEventListener;
  readonly #watches: DirectoryWatches;
  /** Rules of each directory that was entered, even if it has been deleted since. */
  readonly #rules = new Map<string, DirectoryRules>();
  /** Watched directories whose files count by the roots. */
  readonly #entered = new Set<string>();
  /** Directories whose files count only as inputs. */
  readonly #included = new Set<string>();

  constructor(scope: WatchScope, listener: FileEventListener) {
    this.#selection = new WatchSelection(scope);
    this.#listener = listener;
    this.#watches = new DirectoryWatches({
      onEvent: (directory, path, isRenamed) => this.#handle(directory, path, isRenamed),
      onLost: (directory) => void this.#leave(directory),
    });
    for (const root of this.#selection.roots)
      this.#enter(root.directory, this.#selection.ignoreFilesOf(root), false, root.isDeep);
  }

  get directories(): number {
    return this.#watches.size;
  }

  /** Number of directories that could not be watched, with the last error code. */
  get unwatched(): { readonly count: number; readonly code: string } {
    return this.#watches.unwatched;
  }

  /** Whether a path is watched independently of `isInput`. */
  isSource(path: string): boolean {
    const rules = this.#rules.get(parentDirectory(path) ?? "/");
    return rules !== undefined && this.#selection.hasFile(path, rules.ignoreFiles);
  }

  /**
   * Also watches these directories, without subdirectories, for files that `isInput` accepts. Directories that do
   * not exist are skipped.
   */
  include(directories: Iterable<string>): void {
    for (const directory of directories) this.#include(directory);
  }

  [Symbol.dispose](): void {
    this.#watches[Symbol.dispose]();
  }

  /** @param isNew whether its files have been created */
  #enter(directory: string, above: readonly IgnoreFile[], isNew: boolean, isDeep: boolean): void {
    if (this.#entered.has(directory)) return;
    const own = readIgnoreFile(directory);
    const ignoreFiles = own ? [...above, own] : above;
    // Watched before it is read, so that no change is missed (race).
    this.#rules.set(directory, { ignoreFiles, isDeep });
    if (this.#watches.add(directory)) this.#entered.add(directory);
    for (const entry of listDirectory(directory)) {
      const path = startOf(directory) + entry.name;
      if (isNew) this.#reportInput(path, true);
      if (entry.isDirectory()) {
        if (isDeep) this.#enterUnlessIgnored(path, ignoreFiles, isNew);
      } else if (this.#selection.hasFile(path, ignoreFiles)) {
        if (isNew) this.#listener.onChange(path, true);
        else this.#listener.onFound?.(path);
      }
    }
  }

  #enterUnlessIgnored(path: string, ignoreFiles: readonly IgnoreFile[], isNew: boolean): void {
    if (this.#selection.hasDirectory(path, ignoreFiles)) this.#enter(path, ignoreFiles, isNew, true);
  }

  #handle(directory: string, path: string, isRenamed: boolean): void {
    if (this.#listener.renamesOnly && !isRenamed) return;
    const rules = this.#entered.has(directory) ? this.#rules.get(directory) : undefined;
    this.#reportInput(path, isRenamed);
    if (isDirectory(path)) {
      if (this.#watches.isReplaced(path)) this.#leave(path);
      this.#includeAgain(path);
      if (rules?.isDeep) this.#enterUnlessIgnored(path, rules.ignoreFiles, true);
      return;
    }
    if (this.#leave(path)) this.#listener.onChange(path, true);
    if (rules && this.#selection.hasFile(path, rules.ignoreFiles)) this.#listener.onChange(path, isRenamed);
  }

  /** Forgets a removed directory, so that it is entered again if it is recreated. Returns whether it was watched. */
  #leave(path: string): boolean {
    const removed = this.#watches.remove(path);
    for (const directory of removed) this.#entered.delete(directory);
    return removed.length > 0;
  }

  /** Also watches the parent directories, because the directory may be deleted and recreated level by level. */
  #include(directory: string): void {
    this.#included.add(directory);
    for (const each of [...this.#selection.foldersAbove(directory), directory])
      if (isDirectory(each)) this.#watches.add(each);
  }

  /** Includes directories again that have been recreated. */
  #includeAgain(path: string): void {
    for (const directory of this.#included) {
      const isAffected = directory === path || directory.startsWith(startOf(path));
      if (!isAffected || this.#watches.has(directory)) continue;
      this.#include(directory);
      for (const { name } of listDirectory(directory)) this.#reportInput(startOf(directory) + name, true);
    }
  }

  #reportInput(path: string, isRenamed: boolean): void {
    const { isInput, onChange } = this.#listener;
    if (isInput?.(path) && this.#selection.allowsInput(path)) onChange(path, isRenamed);
  }
}
