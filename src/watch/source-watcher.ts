// Watches source files: reports files that are written, created, deleted or renamed into place.
//
// Non-obvious:
// - Directories are watched one by one, because a recursive watch would include node_modules.
// - Git-ignored files and tool outputs are excluded (watch-patterns.ts), except .env files, which are ignored by
//   Git but affect the program.
// - The system limits the number of watches. Directories beyond the limit are skipped and counted.
import type { FSWatcher } from "node:fs";
import { errorCode } from "../../platform/caught-error.ts";
import { parentDirectory } from "../workspace/package-json.ts";
import { extensionOf, SOURCE_EXTENSIONS } from "../source-extensions.ts";
import { type IgnoreFile, isIgnored, parseIgnoreLines, readIgnoreFile, startOf } from "./gitignore.ts";
import { LIKELY_OUTPUTS, OUTPUTS } from "./watch-patterns.ts";

const OTHER_EXTENSIONS = [
  ...[".json", ".jsonc", ".json5", ".toml", ".yaml", ".yml", ".html", ".css", ".scss", ".sass", ".less"],
  ...[".vue", ".svelte", ".astro", ".mdx", ".graphql", ".gql", ".sql", ".wasm", ".prisma", ".proto"],
];
/** Loaded on demand: this module shares a chunk with runs without --watch. */
const fs = () => process.getBuiltinModule("node:fs");

export interface WatchRoot {
  readonly directory: string;
  /** Whether subdirectories are included. */
  readonly isDeep: boolean;
  /** Whether a file is watched, by its absolute path; if absent, source files are. */
  accepts?(path: string): boolean;
  /** A single file that is watched regardless of extensions and ignore rules. */
  readonly file?: string;
}

export interface WatchScope {
  readonly roots: readonly WatchRoot[];
  /** The user's ignore list, which is applied last. */
  readonly ignore: IgnoreFile;
  /** Whether rt itself writes a file, which is then never a change. */
  isOwn?(path: string): boolean;
}

export interface SourceWatcher extends Disposable {
  /**
   * Also watches these directories, without subdirectories, for files that `isInput` accepts. Directories that do
   * not exist are skipped.
   */
  include(directories: Iterable<string>): void;
  /** Whether a path is watched independently of `isInput`. */
  isSource(path: string): boolean;
  readonly directories: number;
  /** Number of directories that could not be watched, with the last error code. */
  readonly unwatched: { readonly count: number; readonly code: string };
}

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

function isEnvFile(name: string): boolean {
  return name === ".env" || name.startsWith(".env.");
}

function isSource(name: string): boolean {
  const extension = extensionOf(name);
  return SOURCE_EXTENSIONS.includes(extension) || OTHER_EXTENSIONS.includes(extension) || isEnvFile(name);
}

export function watchSources(
  { roots, ignore, isOwn }: WatchScope,
  { onChange, onFound, isInput, renamesOnly = false }: FileEventListener,
): SourceWatcher {
  const watchers = new Map<string, { readonly watcher: FSWatcher; readonly identity: string }>();
  /** Ignore rules of each directory that was entered, even if it has been deleted since. */
  const rules = new Map<string, { readonly stack: readonly IgnoreFile[]; readonly isDeep: boolean }>();
  const entered = new Set<string>();
  const included = new Set<string>();
  const unwatched = { count: 0, code: "" };

  /** A root that the user has named is watched even if a parent ignores it. */
  function enterRoot({ directory, isDeep }: WatchRoot): void {
    const above = ignoreFilesAbove(directory);
    const own = readIgnoreFile(directory);
    const stack = isIgnored(directory, true, above) ? [] : above;
    const outputs = above.length > 0 || own ? OUTPUTS : [...OUTPUTS, ...LIKELY_OUTPUTS];
    enter(directory, [parseIgnoreLines(outputs, directory), ...stack], false, isDeep);
  }

  function enter(directory: string, above: readonly IgnoreFile[], isNew: boolean, isDeep: boolean): void {
    if (entered.has(directory)) return;
    const own = readIgnoreFile(directory);
    const stack = own ? [...above, own] : above;
    // Watched before it is read, so that no change is missed (race).
    rules.set(directory, { stack, isDeep });
    watchDirectory(directory);
    if (watchers.has(directory)) entered.add(directory);
    for (const entry of listDirectory(directory)) {
      const path = startOf(directory) + entry.name;
      if (isNew) reportIncluded(path, true);
      if (entry.isDirectory()) {
        if (isDeep) enterUnlessIgnored(path, stack, isNew);
      } else if (isWatched(path, entry.name, stack)) {
        if (isNew) onChange(path, true);
        else onFound?.(path);
      }
    }
  }

  function enterUnlessIgnored(path: string, stack: readonly IgnoreFile[], isNew: boolean): void {
    if (!isIgnored(path, true, [...stack, ignore])) enter(path, stack, isNew, true);
  }

  function isWatched(path: string, name: string, stack: readonly IgnoreFile[]): boolean {
    let isAccepted = false;
    for (const { directory, file, accepts } of roots) {
      if (path === file) return !isOwn?.(path);
      if (file === undefined && path.startsWith(startOf(directory)))
        isAccepted ||= accepts ? accepts(path) : isSource(name);
    }
    if (!isAccepted || isIgnored(path, false, isEnvFile(name) ? [ignore] : [...stack, ignore])) return false;
    return !isOwn?.(path);
  }

  function isIncluded(path: string): boolean {
    return isInput?.(path) === true && !isIgnored(path, false, [ignore]) && !isOwn?.(path);
  }

  /** Also watches the parent directories, because the directory may be deleted and recreated level by level. */
  function include(directory: string): void {
    included.add(directory);
    for (const each of [...foldersAbove(directory), directory]) if (isDirectory(each)) watchDirectory(each);
  }

  /** Parent directories inside a root, from the top. */
  function foldersAbove(directory: string): string[] {
    const above: string[] = [];
    for (let at = parentDirectory(directory); at !== null && isInRoot(at); at = parentDirectory(at))
      above.unshift(at);
    return above;
  }

  function isInRoot(path: string): boolean {
    return roots.some(({ directory }) => path.startsWith(startOf(directory)));
  }

  /** Includes directories again that have been recreated. */
  function includeAgain(path: string): void {
    for (const directory of included) {
      const isAffected = directory === path || directory.startsWith(startOf(path));
      if (!isAffected || watchers.has(directory)) continue;
      include(directory);
      for (const { name } of listDirectory(directory)) reportIncluded(startOf(directory) + name, true);
    }
  }

  function reportIncluded(path: string, isRenamed: boolean): void {
    if (isIncluded(path)) onChange(path, isRenamed);
  }

  function watchDirectory(directory: string): void {
    if (watchers.has(directory)) return;
    try {
      const watcher = fs().watch(directory, (event, name) => {
        if (name === null || (renamesOnly && event !== "rename")) return;
        const path = startOf(directory) + name;
        const { stack, isDeep } = (entered.has(directory) && rules.get(directory)) || {};
        reportIncluded(path, event === "rename");
        if (isDirectory(path)) {
          if (isReplaced(path)) leave(path);
          includeAgain(path);
          return isDeep ? enterUnlessIgnored(path, stack!, true) : undefined;
        }
        if (leave(path)) onChange(path, true);
        if (stack && isWatched(path, name, stack)) onChange(path, event === "rename");
      });
      watcher.on("error", () => leave(directory));
      watchers.set(directory, { watcher, identity: identityOf(directory) });
    } catch (error) {
      const code = errorCode(error) ?? "";
      if (code !== "ENOSPC" && code !== "EMFILE") return; // it was deleted concurrently, or is not readable
      unwatched.count += 1;
      unwatched.code = code;
    }
  }

  /**
   * Whether the path is another directory than the watched one. The system reports no events for a replaced
   * directory.
   */
  function isReplaced(directory: string): boolean {
    const watched = watchers.get(directory);
    return watched !== undefined && watched.identity !== identityOf(directory);
  }

  /** A directory that is removed must be entered again should it come back. Whether it was watched. */
  function leave(path: string): boolean {
    const removed = [...watchers].filter(
      ([directory]) => directory === path || directory.startsWith(startOf(path)),
    );
    for (const [directory, { watcher }] of removed) {
      watcher.close();
      watchers.delete(directory);
      entered.delete(directory);
    }
    return removed.length > 0;
  }

  for (const root of roots.toSorted((a, b) => Number(b.isDeep) - Number(a.isDeep))) enterRoot(root);
  return {
    get directories() {
      return watchers.size;
    },
    unwatched,
    isSource(path) {
      const rule = rules.get(parentDirectory(path) ?? "/");
      return rule !== undefined && isWatched(path, path.slice(path.lastIndexOf("/") + 1), rule.stack);
    },
    include(directories) {
      for (const directory of directories) include(directory);
    },
    [Symbol.dispose]() {
      for (const { watcher } of watchers.values()) watcher.close();
      watchers.clear();
    },
  };
}

function listDirectory(directory: string) {
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

/** Ignore files from the repository's top to the parent of `root`. */
function ignoreFilesAbove(root: string): IgnoreFile[] {
  const ignoreFiles: IgnoreFile[] = [];
  let directory: string | null = root;
  while (directory !== null && !fs().existsSync(`${startOf(directory)}.git`)) {
    directory = parentDirectory(directory);
    const file = directory === null ? undefined : readIgnoreFile(directory);
    if (file) ignoreFiles.unshift(file);
  }
  return directory === null ? [] : ignoreFiles;
}
