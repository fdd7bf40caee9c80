// Limits the size of a store: deletes the least recently used entries and their blobs (LRU eviction).
//
// Invariants: a blob is kept while an entry uses it. A new blob is kept too, because another process may be about to
// add its entry.
import { readFileSync, rmSync } from "node:fs";
import { join, sep } from "node:path";
import { blobHashesOf } from "../entry/entry.ts";
import { hashInName, parseEntry } from "../entry/stored-entry.ts";
import { filesIn, sizeOf, type StoreFile } from "./lru-files.ts";

/** @param limit bytes @param grace age of a blob that may be deleted, in milliseconds */
export function evictFiles(directory: string, limit: number, grace: number): void {
  const isOld = ({ used }: StoreFile) => Date.now() - used >= grace;
  const all = filesIn(directory);
  const abandoned = new Set(all.filter((file) => isDraft(file, directory) && isOld(file)));
  for (const file of abandoned) remove(file);
  const files = all.filter((file) => !abandoned.has(file));
  let total = sizeOf(files);
  if (total <= limit) return;
  const entries = files.filter(({ path }) => path.endsWith(".zst")).sort((a, b) => a.used - b.used);
  const blobs = new Map(
    files
      .filter(({ path }) => path.includes(`${sep}blobs${sep}`))
      .map((each) => [each.path.slice(-64), each]),
  );
  const uses = new Map<string, number>();
  const named = new Map(entries.map(({ path }) => [path, blobsOfEntry(path)]));
  for (const hash of [...named.values()].flat()) uses.set(hash, (uses.get(hash) ?? 0) + 1);
  const drop = (hash: string) => {
    const blob = blobs.get(hash);
    if (!blob || !isOld(blob)) return;
    remove(blob);
    total -= blob.size;
  };
  for (const hash of blobs.keys()) if (!uses.has(hash)) drop(hash);
  for (const entry of entries) {
    if (total <= limit) return;
    remove(entry);
    total -= entry.size;
    for (const hash of named.get(entry.path)!) {
      const remaining = uses.get(hash)! - 1;
      uses.set(hash, remaining);
      if (remaining === 0) drop(hash);
    }
  }
}

/** Whether it is a temporary file, which a killed process may have left. */
function isDraft({ path }: StoreFile, directory: string): boolean {
  return path.startsWith(join(directory, "drafts"));
}

function remove({ path }: StoreFile): void {
  rmSync(path, { force: true });
}

/** Empty for a corrupt entry. */
function blobsOfEntry(path: string): readonly string[] {
  const entry = parseEntry(readOrNull(path), hashInName(path));
  return entry ? blobHashesOf(entry) : [];
}

function readOrNull(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    return null;
  }
}
