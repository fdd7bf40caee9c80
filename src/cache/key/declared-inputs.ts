// Lists the declared inputs of a script that is not traced. These are the files of its package and of its workspace dependencies,
// workspace files such as lockfiles, and files that the rule names. Files that git ignores are excluded.
//
// Invariants:
// - The list is complete. If a directory cannot be read, the script is not cached.
import {
  directoriesNeeded,
  listPackageFiles,
  listTracked,
  sharedFiles,
} from "../../workspace/package-files.ts";
import type { CacheRule } from "../../config/settings/cache.ts";
import type { FileSystemView } from "../entry/entry-validation.ts";
import { endOf, followLinks } from "./symlink-targets.ts";
import { listFiles, type Matcher } from "./rule-globs.ts";
import { isBelow } from "../relocation/stored-path.ts";
import { NotCacheableError } from "../entry/not-cacheable-error.ts";

export interface DeclaredInputView extends FileSystemView {
  readonly root: string;
  readonly packageDirectory: string;
  readonly isDeclared: Matcher;
}

/** Directories whose files are inputs unless git ignores them. @throws UserError */
export function declaredDirectories(root: string, packageDirectory: string): string[] {
  return [packageDirectory, ...directoriesNeeded(root, packageDirectory)];
}

/**
 * Returns absolute paths, sorted. Outputs of the script are excluded unless git tracks them.
 *
 * @throws NotCacheableError, UserError
 */
export async function declaredInputs(rule: CacheRule, project: DeclaredInputView): Promise<string[]> {
  const { root, packageDirectory } = project;
  const found = new Set(sharedFiles(root));
  const directories = declaredDirectories(root, packageDirectory);
  for (const directory of directories)
    for (const path of await listPackageFiles(directory)) {
      const { kind } = project.stat(path);
      // A nested repository.
      if (!found.has(path) && kind === "directory") directories.push(path);
      if (kind === "link") addLinked(endOf(path), directories, project);
      found.add(path);
    }
  for (const path of await listFiles(rule.inputs, packageDirectory)) found.add(path);
  const isAny = [...found].some((path) => project.isDeclared(path));
  const tracked = new Set(isAny ? (await Promise.all(directories.map(listTracked))).flat() : []);
  const counts = (path: string) => !project.isDeclared(path) || tracked.has(path);
  const inputs = [...found].filter((path) => counts(path) && !project.isIgnored(path)).sort();
  const files = inputs.filter((path) => {
    const { kind } = project.stat(path);
    if (kind === "other") throw new NotCacheableError("pipe", path);
    return kind === "file" || kind === "link";
  });
  return await followLinks(files, project);
}

/**
 * Adds the target of a symlink if it is a project directory that is not listed yet, for example a directory that
 * packages share.
 */
function addLinked(
  end: string,
  directories: string[],
  { root, packageDirectory, stat }: DeclaredInputView,
): void {
  const isListed = directories.some((each) => end === each || isBelow(end, each));
  if (isListed || !isBelow(end, root) || isBelow(packageDirectory, end)) return;
  if (stat(end).kind === "directory") directories.push(end);
}
