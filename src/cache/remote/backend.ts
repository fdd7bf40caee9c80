// What a shared cache is to rt: under the key of a script an index, which is a list of entries, and the contents that these
// name by their digests. Two speak with one:
//
//   turbo-backend.ts   turbo's protocol, over HTTP: an index is one artifact, the contents of an entry another
//   reapi-backend.ts   the Remote Execution API v2, over gRPC: an index is the result of an action, each content a blob
//
// Contract: nothing here rejects, and nothing lasts longer than its time limit. What goes wrong is told once, by the table in
// response-actions.ts; after a few times, or one that took all of its time, nothing more is asked. Nobody believes a server: an
// index goes through a Seal (signature.ts), contents are compared with their digests, and remote-cache.ts has the rest.
import type { CacheEntry } from "../entry/entry.ts";
import type { CacheStore } from "../store/cache-store.ts";
import type { PackedIndex } from "./artifact.ts";

export interface CacheBackend {
  readonly isRead: boolean;
  readonly isWritten: boolean;
  /** Undefined where there is none, or none that is signed right. */
  getIndex(key: string): Promise<Uint8Array | undefined>;
  /** @param digests those of the entry's contents that are wanted; undefined where not all are to be had. */
  getContents(
    entry: CacheEntry,
    digests: readonly string[],
  ): Promise<ReadonlyMap<string, Uint8Array> | undefined>;
  /** From the store; false where not all of them are there afterwards. */
  putContents(entry: CacheEntry, store: CacheStore): Promise<boolean>;
  /** Contents that it names are there already; false where it is not there afterwards. */
  putIndex(key: string, index: PackedIndex): Promise<boolean>;
  /** Tells of the use of it, for as long as that takes none of anybody's time, and lets go of the server. */
  finish(uses: readonly Use[]): Promise<void>;
  /** Ends what is on its way, and asks for nothing more. */
  abandon(): void;
}

export interface Use {
  readonly key: string;
  readonly isHit: boolean;
  /** Milliseconds that the script took when it ran. */
  readonly duration: number;
}

/** Told lines for people, some of them again and again. */
export type Warn = (line: string) => void;
