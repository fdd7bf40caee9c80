// Tells when a source file of a project changes: written, created, deleted, or renamed into place.
//
// Directories are watched one by one, because a watch on a whole tree would include node_modules, which may be
// larger than everything else a hundred times over. What Git ignores is left out, so that a script's own
// output does not start it again.
import type { FSWatcher } from "node:fs";
import { parentDirectory } from "../../workspace/package-json.ts";
import { type IgnoreFile, isIgnored, readIgnoreFile } from "./gitignore.ts";
import { extensionOf, SOURCE_EXTENSIONS } from "../target/target.ts";

const OTHER_EXTENSIONS = [
  ...[".json", ".jsonc", ".json5", ".toml", ".yaml", ".yml", ".html", ".css", ".scss", ".sass", ".less"],
  ...[".vue", ".svelte", ".astro", ".mdx", ".graphql", ".gql", ".sql", ".wasm", ".prisma", ".proto"],
];
/** Loaded when it is needed: this module shares a chunk with runs that watch nothing. */
const fs = () => process.getBuiltinModule("node:fs");

const LEFT_OUT = ["node_modules", ".git"];

function isSource(name: string): boolean {
  const extension = extensionOf(name);
  return (
    SOURCE_EXTENSIONS.includes(extension) ||
    OTHER_EXTENSIONS.includes(extension) ||
    name === ".env" ||
    name.startsWith(".env.")
  );
}

export interface SourceWatcher extends Disposable {
  readonly directories: number;
}

/**
 * @param onChange is called again and again while there are changes, with `isRenamed` for what was created, deleted
 * or renamed. With `renamesOnly` only for that
 */
export function watchSources(
  root: string,
  onChange: (path: string, isRenamed: boolean) => void,
  { renamesOnly = false } = {},
): SourceWatcher {
  const watchers = new Map<string, FSWatcher>();

  function enter(directory: string, above: readonly IgnoreFile[], isNew: boolean): void {
    const own = readIgnoreFile(directory);
    const stack = own ? [...above, own] : above;
    // Watched before it is read, so that nothing is missed in between.
    follow(directory, stack);
    for (const entry of listDirectory(directory)) {
      const path = `${directory}/${entry.name}`;
      if (entry.isDirectory()) enterUnlessIgnored(path, stack, isNew);
      else if (isNew && isSource(entry.name) && !isIgnored(path, false, stack)) onChange(path, true);
    }
  }

  function enterUnlessIgnored(path: string, stack: readonly IgnoreFile[], isNew: boolean): void {
    if (watchers.has(path) || LEFT_OUT.some((name) => path.endsWith(`/${name}`))) return;
    if (!isIgnored(path, true, stack)) enter(path, stack, isNew);
  }

  function follow(directory: string, stack: readonly IgnoreFile[]): void {
    try {
      const watcher = fs().watch(directory, (event, name) => {
        if (name === null || (renamesOnly && event !== "rename")) return;
        const path = `${directory}/${name}`;
        if (isDirectory(path)) return enterUnlessIgnored(path, stack, true);
        leave(path);
        if (isSource(name) && !isIgnored(path, false, stack)) onChange(path, event === "rename");
      });
      watcher.on("error", () => leave(directory));
      watchers.set(directory, watcher);
    } catch {
      // It was deleted meanwhile.
    }
  }

  /** A directory that is gone must be entered again should it come back. */
  function leave(path: string): void {
    for (const [directory, watcher] of watchers) {
      if (directory !== path && !directory.startsWith(`${path}/`)) continue;
      watcher.close();
      watchers.delete(directory);
    }
  }

  enter(root, ignoreFilesAbove(root), false);
  return {
    get directories() {
      return watchers.size;
    },
    [Symbol.dispose]: () => leave(root),
  };
}

function listDirectory(directory: string) {
  try {
    return fs().readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}

function isDirectory(path: string): boolean {
  return fs().statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Those between the repository's top and `root`, `root` itself left out. */
function ignoreFilesAbove(root: string): IgnoreFile[] {
  const found: IgnoreFile[] = [];
  let directory: string | null = root;
  while (directory !== null && !isDirectory(`${directory}/.git`)) {
    directory = parentDirectory(directory);
    const file = directory === null ? undefined : readIgnoreFile(directory);
    if (file) found.unshift(file);
  }
  return directory === null ? [] : found;
}
