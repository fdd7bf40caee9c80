// The files of a store, as its size and the order of their use are told from: by the time when each was last marked as used.
import { readdirSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";

export interface StoreFile {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly used: number;
}

/** All below a directory; what goes meanwhile is left out. */
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

/** It is used last of all. */
export function touch(path: string): void {
  try {
    utimesSync(path, new Date(), new Date());
  } catch {
    // Somebody has removed it meanwhile.
  }
}
