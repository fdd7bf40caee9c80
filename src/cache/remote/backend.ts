// Defines the backend of a shared cache: it stores an index (list of entries) per cache key, and the entries' blobs.
//
// - turbo-backend.ts: turbo's protocol over HTTP. The index is one artifact, the blobs of an entry are another.
// - reapi-backend.ts: Remote Execution API v2 over gRPC. The index is an ActionResult, each blob is in the CAS.
//
// Invariants:
// - No method rejects or exceeds its timeout. Each failure is reported once (response-actions.ts). After repeated
//   failures or a timeout, no further request is sent.
// - Servers are untrusted: signature.ts verifies an index, digests verify blobs, and remote-cache.ts does the rest.
import type { CacheEntry } from "../entry/entry.ts";
import type { CacheStore } from "../store/cache-store.ts";
import type { PackedIndex } from "./artifact.ts";

export interface CacheBackend {
  readonly isRead: boolean;
  readonly isWritten: boolean;
  /** Returns undefined if there is no index, or its signature is invalid. */
  getIndex(key: string): Promise<Uint8Array | undefined>;
  /** Returns undefined unless all blobs are available. @param digests the wanted blobs of the entry */
  getContents(
    entry: CacheEntry,
    digests: readonly string[],
  ): Promise<ReadonlyMap<string, Uint8Array> | undefined>;
  /** Uploads the blobs of an entry. Returns false on failure. */
  putContents(entry: CacheEntry, store: CacheStore): Promise<boolean>;
  /** Uploads an index, after the blobs of its entries. Returns false on failure. */
  putIndex(key: string, index: PackedIndex): Promise<boolean>;
  /** Reports hits and misses if that is fast, and disconnects. */
  finish(uses: readonly Use[]): Promise<void>;
  /** Aborts pending requests and sends no more. */
  abandon(): void;
}

export interface Use {
  readonly key: string;
  readonly isHit: boolean;
  /** Duration of the script in milliseconds. */
  readonly duration: number;
}

/** Receives warnings; the same one may come repeatedly. */
export type Warn = (line: string) => void;
