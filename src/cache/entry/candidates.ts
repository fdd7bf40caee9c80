// Lists the entries that may be a cache hit: first local entries, then entries of the shared cache. The shared cache is
// queried only if no local entry is valid.
import type { CacheEntry, StoredEntry } from "./entry.ts";
import type { ShareScope, SharedCache } from "../shared-cache.ts";
import type { EntrySnapshot } from "./entry-snapshot.ts";
import type { StatCache } from "../memo/stat-cache.ts";
import type { CacheStore } from "../store/cache-store.ts";

export interface EntryCandidate {
  readonly stored: StoredEntry;
  /** The entry comes from the shared cache. */
  readonly isRemote: boolean;
  /** The entry's file; undefined for an entry of the shared cache. */
  readonly file?: string;
  /**
   * Downloads the entry's blobs into the store. Returns the reason as text on failure. Paths of the entry are
   * absolute.
   */
  prepare(entry: CacheEntry): Promise<string | undefined>;
  /** Records that the entry is used as a hit. */
  use(): void;
}

export interface Lookup {
  readonly store: CacheStore;
  readonly snapshot: EntrySnapshot;
  readonly access: { readonly isRead: boolean; readonly isWritten: boolean };
  readonly key: string;
  readonly scope: ShareScope;
  readonly statCache: StatCache;
}

export interface SharedLookup {
  readonly cache: SharedCache;
  readonly key: string;
}

export async function* findCandidates(
  lookup: Lookup,
  shared: SharedLookup | undefined,
): AsyncGenerator<EntryCandidate> {
  const { snapshot, access, key } = lookup;
  for (const [index, { path, entry }] of (access.isRead ? snapshot.entries(key) : []).entries())
    yield {
      stored: entry,
      isRemote: false,
      file: path,
      prepare: async () => undefined,
      use: () => snapshot.use(key, path, index === 0),
    };
  if (shared?.cache.isRead) yield* findShared(lookup, shared);
}

async function* findShared({ store, access, key, scope, statCache }: Lookup, shared: SharedLookup) {
  const { cache } = shared;
  const found = await cache.find(shared.key);
  statCache.invalidate(); // the query took time, so files may have changed
  for (const stored of found)
    yield {
      stored,
      isRemote: true,
      prepare: async (entry: CacheEntry) => {
        const outside = cache.findOutside(entry, scope);
        if (outside !== undefined)
          return `its result contains ${outside}, which a shared result must not contain`;
        const isThere = await cache.fetch(entry, store);
        statCache.invalidate();
        return isThere ? undefined : "the shared cache does not return its outputs";
      },
      use: () => {
        if (access.isWritten) keep(stored, key, store);
        cache.note(shared.key, true, stored.duration);
      },
    };
  // This line is reached only if no entry was used.
  cache.note(shared.key, false, 0);
}

function keep(stored: StoredEntry, key: string, store: CacheStore): void {
  try {
    store.addEntry(key, stored);
  } catch {
    // The next lookup downloads the entry again.
  }
}
