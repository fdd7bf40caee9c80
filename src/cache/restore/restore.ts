// Restores the outputs of a cache hit: each file by an atomic rename, with its mode, unless it is already in place.
//
// Invariants:
// - All blobs are compared with their digests before the first change.
// - No file outside the project's root is written, even if directories were replaced by symlinks (path traversal).
// - On failure the script runs, and creates all outputs again.
import {
  chmodSync,
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { errorMessage } from "../../../platform/caught-error.ts";
import { isOutput, type FileSystemView } from "../entry/entry-validation.ts";
import type { CacheEntry, RecordedOutput } from "../entry/entry.ts";
import { hashFile } from "../store/file-hash-cache.ts";
import { isBelow } from "../relocation/stored-path.ts";
import type { CacheStore } from "../store/cache-store.ts";

/**
 * Returns the number of restored files, or the reason as text if the outputs cannot be restored.
 *
 * @param announce called before the first change, to detect concurrent runs
 */
export async function restoreOutputs(
  entry: CacheEntry,
  root: string,
  store: CacheStore,
  view: FileSystemView,
  announce: () => { release(): void },
): Promise<number | string> {
  const missing: RecordedOutput[] = [];
  for (const output of entry.outputs) {
    if (!isBelow(output.path, root) || output.path.split(/[/\\]/).includes(".."))
      return `its result contains ${output.path}, which is outside the project`;
    if (await isOutput(output, view.stat(output.path), view.hashes)) continue;
    if (output.kind === "file" && !(await store.checkBlob(output.hash)))
      return `the content of ${output.path} is missing from the cache, or damaged`;
    missing.push(output);
  }
  if (missing.length === 0) return 0;
  const detector = announce();
  try {
    const ordered = inOrder(missing);
    for (const output of ordered) await restoreOutput(output, realpathSync(root), store);
    // Modes are set last: a directory may be read-only.
    for (const output of ordered.toReversed())
      if (output.kind === "directory") chmodSync(output.path, output.mode);
  } catch (error) {
    return `its outputs cannot be restored: ${errorMessage(error)}`;
  } finally {
    detector.release();
    view.statCache.invalidate();
  }
  return missing.filter(({ kind }) => kind !== "directory").length;
}

/** Sorts directories before their content; deletions last, children before parents. */
function inOrder(outputs: readonly RecordedOutput[]): RecordedOutput[] {
  const rank = ({ kind }: RecordedOutput) => ["directory", "file", "link", "absent"].indexOf(kind);
  return outputs.toSorted((a, b) => {
    if (rank(a) !== rank(b)) return rank(a) - rank(b);
    const isBefore = a.path < b.path ? -1 : 1;
    return a.kind === "absent" ? -isBefore : isBefore;
  });
}

async function restoreOutput(output: RecordedOutput, root: string, store: CacheStore): Promise<void> {
  const { path } = output;
  if (output.kind === "absent") return remove(path, root);
  requireInside(dirname(path), root, true);
  if (output.kind === "directory") {
    if (!isDirectory(path)) {
      rmSync(path, { force: true });
      mkdirSync(path);
    }
    return;
  }
  const temporary = join(dirname(path), `.${beginningOf(basename(path))}.rt-${process.pid}`);
  try {
    if (output.kind === "link") symlinkSync(output.target, temporary);
    else {
      copyFileSync(
        store.blobPath(output.hash),
        temporary,
        constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL,
      );
      chmodSync(temporary, output.mode);
      if ((await hashFile(temporary)) !== output.hash) throw new Error("damaged");
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Shortens a name so that a temporary name made of it is not too long; systems count bytes. */
function beginningOf(name: string): string {
  return new TextDecoder().decode(Buffer.from(name).subarray(0, 100), { stream: true });
}

/** Resolves symlinks again, because they may have changed. */
function requireInside(directory: string, root: string, isMade: boolean): void {
  if (isMade) makeDirectory(directory, root);
  const real = realpathSync(directory);
  if (real !== root && !isBelow(real, root)) throw new Error(`${directory} is outside`);
}

function makeDirectory(directory: string, root: string): void {
  if (lstatSync(directory, { throwIfNoEntry: false })) return;
  requireInside(dirname(directory), root, true);
  mkdirSync(directory);
}

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function remove(path: string, root: string): void {
  if (!lstatSync(path, { throwIfNoEntry: false })) return;
  requireInside(dirname(path), root, false);
  if (isDirectory(path)) rmdirSync(path);
  else unlinkSync(path);
}
