// What earlier runs have learned: the hashes of files, which the cache of scripts goes by as well, and what a server has.
//
// Contract: a memory and no more. Where there is no place for one, or the place is somebody else's, cannot be read, or is
// damaged, it is an empty one; where it cannot be written, the next run learns all of it again. What a server has is known by
// its address, its instance and the credentials: others may be shown other content.
import { statPath } from "../../platform/files/path-state.ts";
import { FileHashCache } from "../cache/store/file-hash-cache.ts";
import { openHashes, writeHashes } from "../cache/store/file-hash-persistence.ts";
import { CacheStore, storeDirectory } from "../cache/store/cache-store.ts";
import { BlobPresenceCache } from "../reapi/blob-presence-cache.ts";
import type { RemoteSettings } from "../config/settings/remote.ts";

export interface PersistedState {
  readonly hashes: FileHashCache;
  readonly seen: BlobPresenceCache;
  /** What is new in it is kept for the next run. */
  write(): void;
}

/** @param root the workspace's, absolute */
export function openMemory(root: string, server: RemoteSettings): PersistedState {
  const directory = storeDirectory();
  try {
    if (directory !== undefined) return openIn(new CacheStore(directory), root, server);
  } catch {}
  const hashes = new FileHashCache(
    statPath,
    () => true,
    () => null,
  );
  return { hashes, seen: new BlobPresenceCache(null), write: () => {} };
}

/** Throws the system's errors. */
function openIn(
  store: CacheStore,
  root: string,
  { url, instance, headers, tls }: RemoteSettings,
): PersistedState {
  const identity = JSON.stringify([url, instance, headers, tls]);
  const id = new Bun.CryptoHasher("sha256", store.secret()).update(identity).digest("hex");
  const seen = new BlobPresenceCache(store.readText("there", id));
  const write = () => {
    writeHashes(store);
    const text = seen.takeText();
    try {
      if (text !== null) store.write("there", id, text);
    } catch {
      // The next run asks again.
    }
  };
  return { hashes: openHashes(root, statPath, store), seen, write };
}
