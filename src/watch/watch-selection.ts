// Decides which files are watched: those below a root that no ignore file excludes. Starts nothing.
//
// Non-obvious: git-ignored files and tool outputs are excluded (watch-patterns.ts), except .env files, which are
// ignored by Git but affect the program.
import { parentDirectory } from "../workspace/package-json.ts";
import { extensionOf, SOURCE_EXTENSIONS } from "../source-extensions.ts";
import { type IgnoreFile, isIgnored, parseIgnoreLines, readIgnoreFile, startOf } from "./gitignore.ts";
import { LIKELY_OUTPUTS, OUTPUTS } from "./watch-patterns.ts";

const OTHER_EXTENSIONS = [
  ...[".json", ".jsonc", ".json5", ".toml", ".yaml", ".yml", ".html", ".css", ".scss", ".sass", ".less"],
  ...[".vue", ".svelte", ".astro", ".mdx", ".graphql", ".gql", ".sql", ".wasm", ".prisma", ".proto"],
];

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

export class WatchSelection {
  readonly #scope: WatchScope;

  constructor(scope: WatchScope) {
    this.#scope = scope;
  }

  /** Roots with subdirectories come first. */
  get roots(): readonly WatchRoot[] {
    return this.#scope.roots.toSorted((a, b) => Number(b.isDeep) - Number(a.isDeep));
  }

  /** Returns the ignore rules of a root. A root that the user has named is watched even if a parent ignores it. */
  ignoreFilesOf({ directory }: WatchRoot): readonly IgnoreFile[] {
    const above = ignoreFilesAbove(directory);
    const isInRepository = above.length > 0 || readIgnoreFile(directory) !== undefined;
    const outputs = isInRepository ? OUTPUTS : [...OUTPUTS, ...LIKELY_OUTPUTS];
    return [parseIgnoreLines(outputs, directory), ...(isIgnored(directory, true, above) ? [] : above)];
  }

  /** @param ignoreFiles those that apply to the directory */
  hasDirectory(path: string, ignoreFiles: readonly IgnoreFile[]): boolean {
    return !isIgnored(path, true, [...ignoreFiles, this.#scope.ignore]);
  }

  /** @param ignoreFiles those that apply to the file */
  hasFile(path: string, ignoreFiles: readonly IgnoreFile[]): boolean {
    const { roots, ignore, isOwn } = this.#scope;
    const name = path.slice(path.lastIndexOf("/") + 1);
    let isAccepted = false;
    for (const { directory, file, accepts } of roots) {
      if (path === file) return !isOwn?.(path);
      if (file === undefined && path.startsWith(startOf(directory)))
        isAccepted ||= accepts ? accepts(path) : isSource(name);
    }
    if (!isAccepted || isIgnored(path, false, isEnvFile(name) ? [ignore] : [...ignoreFiles, ignore]))
      return false;
    return !isOwn?.(path);
  }

  /** Whether an input of a task counts: only the user's ignore list excludes it. */
  allowsInput(path: string): boolean {
    const { ignore, isOwn } = this.#scope;
    return !isIgnored(path, false, [ignore]) && !isOwn?.(path);
  }

  /** Returns the parent directories inside a root, from the top. */
  foldersAbove(directory: string): string[] {
    const above: string[] = [];
    for (let at = parentDirectory(directory); at !== null && this.#isInRoot(at); at = parentDirectory(at))
      above.unshift(at);
    return above;
  }

  #isInRoot(path: string): boolean {
    return this.#scope.roots.some(({ directory }) => path.startsWith(startOf(directory)));
  }
}

function isEnvFile(name: string): boolean {
  return name === ".env" || name.startsWith(".env.");
}

function isSource(name: string): boolean {
  const extension = extensionOf(name);
  return SOURCE_EXTENSIONS.includes(extension) || OTHER_EXTENSIONS.includes(extension) || isEnvFile(name);
}

/** Ignore files from the repository's top to the parent of `root`. */
function ignoreFilesAbove(root: string): IgnoreFile[] {
  const { existsSync } = process.getBuiltinModule("node:fs");
  const ignoreFiles: IgnoreFile[] = [];
  let directory: string | null = root;
  while (directory !== null && !existsSync(`${startOf(directory)}.git`)) {
    directory = parentDirectory(directory);
    const file = directory === null ? undefined : readIgnoreFile(directory);
    if (file) ignoreFiles.unshift(file);
  }
  return directory === null ? [] : ignoreFiles;
}
