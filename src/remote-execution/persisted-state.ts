// Opens state of earlier runs: the file-hash cache, which is shared with the script cache, and the blob presence
// cache of a server.
//
// Invariants:
// - Without a usable store the caches are empty. If they cannot be written, the next run starts without them.
// - Blob presence is stored per address, instance and credentials, because other clients may see other content.
import { statPath } from "../../platform/files/path-state.ts";
import { FileHashCache } from "../cache/store/file-hash-cache.ts";
import { openHashes, writeHashes } from "../cache/store/file-hash-persistence.ts";
import { CacheStore, storeDirectory } from "../cache/store/cache-store.ts";
import { BlobPresenceCache } from "../reapi/blob-presence-cache.ts";
import type { RemoteSettings } from "../config/settings/remote.ts";

export interface PersistedState {
  readonly hashes: FileHashCache;
  readonly blobPresence: BlobPresenceCache;
  /** Persists new entries for the next run. */
  write(): void;
}

/** @param root the workspace's root, absolute */
export function openPersistedState(root: string, server: RemoteSettings): PersistedState {
  const directory = storeDirectory();
  try {
    if (directory !== undefined) return openInStore(new CacheStore(directory), root, server);
  } catch {}
  const hashes = new FileHashCache(
    statPath,
    () => true,
    () => null,
  );
  return { hashes, blobPresence: new BlobPresenceCache(null), write: () => {} };
}

/** @throws system errors */
function openInStore(
  store: CacheStore,
  root: string,
  { url, instance, headers, tls }: RemoteSettings,
): PersistedState {
  const identity = JSON.stringify([url, instance, headers, tls]);
  const id = new Bun.CryptoHasher("sha256", store.secret()).update(identity).digest("hex");
  const blobPresence = new BlobPresenceCache(store.readText("there", id));
  const write = () => {
    writeHashes(store);
    const text = blobPresence.takeText();
    try {
      if (text !== null) store.write("there", id, text);
    } catch {
      // The next run queries the server again.
    }
  };
  return { hashes: openHashes(root, statPath, store), blobPresence, write };
}
