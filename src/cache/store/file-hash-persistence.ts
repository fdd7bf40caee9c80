// The memory of hashes, read once for a run and written after it: a part for each project, and one for all of them.
import type { StatPath } from "../../../platform/tracing/contract/tracing.ts";
import { hashBytes, FileHashCache, type Part } from "./file-hash-cache.ts";
import { isBelow } from "../entry/relocation.ts";
import type { CacheStore } from "./cache-store.ts";

/** A run of many has hundreds of scripts, and they share this. */
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

/** Of all projects that this process has looked at. */
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
    // The next run makes them again.
  }
}
