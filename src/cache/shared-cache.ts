// Declares a cache that several machines share: entries by key, and their blobs.
import type { CacheEntry, StoredEntry } from "./entry/entry.ts";
import type { CacheStore } from "./store/cache-store.ts";

/** The paths that a shared entry may change. */
export interface ShareScope {
  readonly root: string;
  readonly packageDirectory: string;
  isDeclared(path: string): boolean;
}

export interface SharedCache {
  readonly isRead: boolean;
  readonly isWritten: boolean;
  /** The key with which all users of the cache hash variables. */
  readonly secret: Uint8Array;
  /** Returns the newest entry first; empty on failure. Never rejects. */
  find(key: string): Promise<readonly StoredEntry[]>;
  /** Returns the first output that must not be shared. Paths of the entry are absolute. */
  findOutside(entry: CacheEntry, place: ShareScope): string | undefined;
  /** Downloads an entry's blobs into the store. Returns false unless all are intact. Never rejects. */
  fetch(entry: CacheEntry, store: CacheStore): Promise<boolean>;
  /** Records a hit or miss for the server. @param duration of the script, in milliseconds */
  note(key: string, isHit: boolean, duration: number): void;
  /** Uploads an entry in the background. Resolves to whether the server has it. Never rejects. */
  offer(key: string, entry: StoredEntry, store: CacheStore): Promise<boolean>;
}
