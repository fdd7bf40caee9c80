// Tells when a file that is watched changes: written, created, deleted, or renamed into place.
//
// Directories are watched one by one, because a watch on a whole tree would include node_modules, which may be
// larger than everything else a hundred times over. What Git ignores and what tools make is left out (watch-patterns.ts), but
// for .env files, which are kept from Git and yet decide what a program does.
//
// Surprising: a system watches only so many directories for a user. Those beyond are passed over and counted.
import type { FSWatcher } from "node:fs";
import { parentDirectory } from "../workspace/package-json.ts";
import { extensionOf, SOURCE_EXTENSIONS } from "../source-extensions.ts";
import { type IgnoreFile, isIgnored, parseIgnoreLines, readIgnoreFile, startOf } from "./gitignore.ts";
import { LIKELY_OUTPUTS, OUTPUTS } from "./watch-patterns.ts";

const OTHER_EXTENSIONS = [
  ...[".json", ".jsonc", ".json5", ".toml", ".yaml", ".yml", ".html", ".css", ".scss", ".sass", ".less"],
  ...[".vue", ".svelte", ".astro", ".mdx", ".graphql", ".gql", ".sql", ".wasm", ".prisma", ".proto"],
];
/** Loaded when it is needed: this module shares a chunk with runs that watch nothing. */
const fs = () => process.getBuiltinModule("node:fs");

export interface Root {
  readonly directory: string;
  /** With what is below it. */
  readonly isDeep: boolean;
  /** Whether a file is meant, by its absolute path; without it, source files are. */
  accepts?(path: string): boolean;
  /** Files that are meant whatever is said of others like them. */
  readonly file?: string;
}

export interface WatchScope {
  readonly roots: readonly Root[];
  /** The user's, which decides last. */
  readonly ignore: IgnoreFile;
  /** Whether rt itself writes a file, which then never counts. */
  isOwn?(path: string): boolean;
}

export interface SourceWatcher extends Disposable {
  /** Watches these as well, for what `isInput` says; what is below them is not. One that is not there is passed over. */
  include(directories: Iterable<string>): void;
  /** Whether a path counts without `isInput`. */
  isSource(path: string): boolean;
  readonly directories: number;
  /** Directories that the system would not watch, with its reason for the last of them. */
  readonly refused: { readonly count: number; readonly code: string };
}

export interface FileEventListener {
  /**
   * Called again and again while there are changes, with `isRenamed` for what was created, deleted or renamed; for a
   * directory that is gone, with its own path.
   */
  onChange(path: string, isRenamed: boolean): void;
  /** Each file that is watched and there at the start. */
  onFound?(path: string): void;
  /** Whether a path counts though it may be none that is watched otherwise: only the user's list leaves it out. */
  isInput?(path: string): boolean;
  /** Changes of content alone are of no interest. */
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
  /** What holds in each directory that was entered, be it gone by now. */
  const rules = new Map<string, { readonly stack: readonly IgnoreFile[]; readonly isDeep: boolean }>();
  const entered = new Set<string>();
  const included = new Set<string>();
  const refused = { count: 0, code: "" };

  /** What is ignored above a root that the user has named is watched all the same. */
  function enterRoot({ directory, isDeep }: Root): void {
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
    // Watched before it is read, so that nothing is missed in between.
    rules.set(directory, { stack, isDeep });
    follow(directory);
    if (watchers.has(directory)) entered.add(directory);
    for (const entry of listDirectory(directory)) {
      const path = startOf(directory) + entry.name;
      if (isNew) tellIncluded(path, true);
      if (entry.isDirectory()) {
        if (isDeep) enterUnlessIgnored(path, stack, isNew);
      } else if (isMeant(path, entry.name, stack)) {
        if (isNew) onChange(path, true);
        else onFound?.(path);
      }
    }
  }

  function enterUnlessIgnored(path: string, stack: readonly IgnoreFile[], isNew: boolean): void {
    if (!isIgnored(path, true, [...stack, ignore])) enter(path, stack, isNew, true);
  }

  function isMeant(path: string, name: string, stack: readonly IgnoreFile[]): boolean {
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

  /** What is above it first, also where nothing else is of interest: it may go, and come back one folder at a time. */
  function include(directory: string): void {
    included.add(directory);
    for (const each of [...foldersAbove(directory), directory]) if (isDirectory(each)) follow(each);
  }

  /** Those within a root, from the top. */
  function foldersAbove(directory: string): string[] {
    const above: string[] = [];
    for (let at = parentDirectory(directory); at !== null && isInRoot(at); at = parentDirectory(at))
      above.unshift(at);
    return above;
  }

  function isInRoot(path: string): boolean {
    return roots.some(({ directory }) => path.startsWith(startOf(directory)));
  }

  /** What comes back. */
  function includeAgain(path: string): void {
    for (const directory of included) {
      const isThere = directory === path || directory.startsWith(startOf(path));
      if (!isThere || watchers.has(directory)) continue;
      include(directory);
      for (const { name } of listDirectory(directory)) tellIncluded(startOf(directory) + name, true);
    }
  }

  function tellIncluded(path: string, isRenamed: boolean): void {
    if (isIncluded(path)) onChange(path, isRenamed);
  }

  function follow(directory: string): void {
    if (watchers.has(directory)) return;
    try {
      const watcher = fs().watch(directory, (event, name) => {
        if (name === null || (renamesOnly && event !== "rename")) return;
        const path = startOf(directory) + name;
        const { stack, isDeep } = (entered.has(directory) && rules.get(directory)) || {};
        tellIncluded(path, event === "rename");
        if (isDirectory(path)) {
          if (isAnother(path)) leave(path);
          includeAgain(path);
          return isDeep ? enterUnlessIgnored(path, stack!, true) : undefined;
        }
        if (leave(path)) onChange(path, true);
        if (stack && isMeant(path, name, stack)) onChange(path, event === "rename");
      });
      watcher.on("error", () => leave(directory));
      watchers.set(directory, { watcher, identity: identityOf(directory) });
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      if (code !== "ENOSPC" && code !== "EMFILE") return; // it was deleted meanwhile, or may not be read
      refused.count += 1;
      refused.code = code;
    }
  }

  /** Whether a directory took the place of the one that is watched, of which the system tells nothing more. */
  function isAnother(directory: string): boolean {
    const watched = watchers.get(directory);
    return watched !== undefined && watched.identity !== identityOf(directory);
  }

  /** A directory that is gone must be entered again should it come back. Whether it was watched. */
  function leave(path: string): boolean {
    const gone = [...watchers].filter(
      ([directory]) => directory === path || directory.startsWith(startOf(path)),
    );
    for (const [directory, { watcher }] of gone) {
      watcher.close();
      watchers.delete(directory);
      entered.delete(directory);
    }
    return gone.length > 0;
  }

  for (const root of roots.toSorted((a, b) => Number(b.isDeep) - Number(a.isDeep))) enterRoot(root);
  return {
    get directories() {
      return watchers.size;
    },
    refused,
    isSource(path) {
      const rule = rules.get(parentDirectory(path) ?? "/");
      return rule !== undefined && isMeant(path, path.slice(path.lastIndexOf("/") + 1), rule.stack);
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

/** A number is given again as soon as its directory is gone. */
function identityOf(path: string): string {
  const stat = fs().statSync(path, { throwIfNoEntry: false });
  return stat ? `${stat.dev} ${stat.ino} ${stat.birthtimeMs}` : "";
}

/** Those between the repository's top and `root`, `root` itself left out. */
function ignoreFilesAbove(root: string): IgnoreFile[] {
  const found: IgnoreFile[] = [];
  let directory: string | null = root;
  while (directory !== null && !fs().existsSync(`${startOf(directory)}.git`)) {
    directory = parentDirectory(directory);
    const file = directory === null ? undefined : readIgnoreFile(directory);
    if (file) found.unshift(file);
  }
  return directory === null ? [] : found;
}
