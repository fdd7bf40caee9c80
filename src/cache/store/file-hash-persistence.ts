// Loads the file-hash cache once per run and saves it after the run: one part per project, and one for all projects.
import type { StatPath } from "../../../platform/tracing/contract/tracing.ts";
import { hashBytes, FileHashCache, type Part } from "./file-hash-cache.ts";
import { isBelow } from "../relocation/stored-path.ts";
import type { CacheStore } from "./cache-store.ts";

/** Shared by all scripts of a run. */
const hashCaches = new Map<string, FileHashCache>();

function namesOf(root: string): Readonly<Record<Part, string>> {
  return { inside: hashBytes(root), outside: "outside" };
}

export function openHashes(root: string, stat: StatPath, store: CacheStore): FileHashCache {
  const names = namesOf(root);
  const open = () =>
    new FileHashCache(
      stat,
      (path) => isBelow(path, root),
      (part) => store.readText("hashes", names[part]),
    );
  const hashes = hashCaches.get(root) ?? open();
  hashCaches.set(root, hashes);
  return hashes;
}

/** Saves the hashes of all projects that this process used. */
export function writeHashes(store: CacheStore): void {
  try {
    for (const [root, hashes] of hashCaches) {
      const names = namesOf(root);
      for (const part of ["inside", "outside"] as const) {
        const text = hashes.takeText(part);
        if (text !== null) store.write("hashes", names[part], text);
      }
    }
  } catch {
    // The next run computes them again.
  }
}
