// Entries that may be what a script would do now, the likeliest first: what is kept on this machine, and then what others
// have, who are only asked when none of these will do.
import type { CacheEntry, StoredEntry } from "./entry.ts";
import type { ShareScope, SharedCache } from "../shared-cache.ts";
import type { EntrySnapshot } from "./entry-snapshot.ts";
import type { StatCache } from "../memo/stat-cache.ts";
import type { CacheStore } from "../store/cache-store.ts";

export interface EntryCandidate {
  readonly stored: StoredEntry;
  /** Others have it, and this machine has not. */
  readonly isRemote: boolean;
  /** The file that it is in; absent where it is others'. */
  readonly file?: string;
  /** Fetches its contents into the store; the reason as text if they do not arrive. Paths of the entry are absolute. */
  prepare(entry: CacheEntry): Promise<string | undefined>;
  /** It is taken. */
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

/** What others have, under a key of theirs. */
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
  statCache.invalidate(); // who asks others has waited
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
        return isThere ? undefined : "the shared cache does not return what it made";
      },
      use: () => {
        if (access.isWritten) keep(stored, key, store);
        cache.note(shared.key, true, stored.duration);
      },
    };
  // Nobody would ask for more if one of these had been taken.
  cache.note(shared.key, false, 0);
}

function keep(stored: StoredEntry, key: string, store: CacheStore): void {
  try {
    store.addEntry(key, stored);
  } catch {
    // It comes from the others again.
  }
}
