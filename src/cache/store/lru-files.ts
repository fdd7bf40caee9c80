// Lists the files of a store with size and time of last use (the mtime), for LRU eviction.
import { readdirSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";

export interface StoreFile {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly used: number;
}

/** Lists all files below a directory. Concurrently deleted files are skipped. */
export function filesIn(directory: string): StoreFile[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true }).flatMap((each) => {
    if (!each.isFile()) return [];
    const path = join(each.parentPath, each.name);
    const found = statSync(path, { throwIfNoEntry: false });
    return found ? [{ path, size: found.size, used: found.mtimeMs }] : [];
  });
}

/** Bytes. */
export function sizeOf(files: readonly StoreFile[]): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}

/** Bytes; undefined if the file is missing. */
export function sizeAt(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}

/** Marks a file as the most recently used. */
export function touch(path: string): void {
  try {
    utimesSync(path, new Date(), new Date());
  } catch {
    // The file was deleted concurrently.
  }
}
