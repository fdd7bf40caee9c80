// Entries that may be what a script would do now, the likeliest first: what is kept on this machine, and then what others
// have, who are only asked when none of these will do.
import type { CacheEntry, StoredEntry } from "./entry.ts";
import type { ShareScope, SharedCache } from "../shared-cache.ts";
import type { EntrySnapshot } from "./entry-snapshot.ts";
import type { StatCache } from "../memo/stat-cache.ts";
import type { CacheStore } from "../store/cache-store.ts";

export interface EntryCandidate {
  readonly kept: StoredEntry;
  /** Others have it, and this machine has not. */
  readonly isOthers: boolean;
  /** The file that it is in; absent where it is others'. */
  readonly file?: string;
  /** Fetches its contents into the store; the reason as text if they do not arrive. Paths of the entry are absolute. */
  prepare(entry: CacheEntry): Promise<string | undefined>;
  /** It is taken. */
  use(): void;
}

export interface Lookup {
  readonly store: CacheStore;
  readonly known: EntrySnapshot;
  readonly access: { readonly isRead: boolean; readonly isWritten: boolean };
  readonly key: string;
  readonly place: ShareScope;
  readonly seen: StatCache;
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
  const { known, access, key } = lookup;
  for (const [index, { path, entry }] of (access.isRead ? known.entries(key) : []).entries())
    yield {
      kept: entry,
      isOthers: false,
      file: path,
      prepare: async () => undefined,
      use: () => known.use(key, path, index === 0),
    };
  if (shared?.cache.isRead) yield* findShared(lookup, shared);
}

async function* findShared({ store, access, key, place, seen }: Lookup, shared: SharedLookup) {
  const { cache } = shared;
  const found = await cache.find(shared.key);
  seen.forget(); // who asks others has waited
  for (const kept of found)
    yield {
      kept,
      isOthers: true,
      prepare: async (entry: CacheEntry) => {
        const outside = cache.findOutside(entry, place);
        if (outside !== undefined)
          return `its result contains ${outside}, which a shared result must not contain`;
        const isThere = await cache.fetch(entry, store);
        seen.forget();
        return isThere ? undefined : "the shared cache does not return what it made";
      },
      use: () => {
        if (access.isWritten) keep(kept, key, store);
        cache.note(shared.key, true, kept.duration);
      },
    };
  // Nobody would ask for more if one of these had been taken.
  cache.note(shared.key, false, 0);
}

function keep(kept: StoredEntry, key: string, store: CacheStore): void {
  try {
    store.addEntry(key, kept);
  } catch {
    // It comes from the others again.
  }
}
