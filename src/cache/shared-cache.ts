// What this room knows of a cache that others share: under a key, the entries that others have made, and their contents.
import type { CacheEntry, StoredEntry } from "./entry/entry.ts";
import type { CacheStore } from "./store/cache-store.ts";

/** Where an entry's outputs may be. */
export interface ShareScope {
  readonly root: string;
  readonly packageDirectory: string;
  /** Whether a path is one of the script's declared outputs. */
  isDeclared(path: string): boolean;
}

export interface SharedCache {
  readonly isRead: boolean;
  readonly isWritten: boolean;
  /** What all that share it hash variables with. */
  readonly secret: Uint8Array;
  /** The newest first; none where nothing is to be had in time. Never rejects. */
  find(key: string): Promise<readonly StoredEntry[]>;
  /** The first path that may not come from others, nor go to them. Paths of the entry are absolute. */
  findOutside(entry: CacheEntry, place: ShareScope): string | undefined;
  /** Puts an entry's contents into the store; false where they do not arrive whole. Never rejects. */
  fetch(entry: CacheEntry, store: CacheStore): Promise<boolean>;
  /** Whether it was of use to look up a key. @param duration of the script, in milliseconds */
  note(key: string, isHit: boolean, duration: number): void;
  /** What is in the store is uploaded beside the run. Whether the others have it then; never rejects. */
  offer(key: string, entry: StoredEntry, store: CacheStore): Promise<boolean>;
}
