// Stores a shared cache on a server of turbo's protocol. The index of a key and the blobs of an entry are signed
// artifacts. turbo-client.ts sends the requests.
import type { TurboSettings } from "../../config/settings/remote-cache.ts";
import { blobHashesOf, type CacheEntry } from "../entry/entry.ts";
import type { CacheStore } from "../store/cache-store.ts";
import {
  contentsId,
  indexId,
  type PackedIndex,
  MAX_CONTENTS_SIZE,
  MAX_INDEX_SIZE,
  packContents,
  readContents,
} from "./artifact.ts";
import type { CacheBackend, Warn, Use } from "./backend.ts";
import type { ArtifactSigner } from "./signature.ts";
import { TurboClient } from "./turbo-client.ts";

export class TurboBackend implements CacheBackend {
  readonly #client: TurboClient;
  readonly #signer: ArtifactSigner;

  constructor(settings: TurboSettings, token: string, signer: ArtifactSigner, warn: Warn) {
    this.#client = new TurboClient(settings, token, warn);
    this.#signer = signer;
  }

  get isRead(): boolean {
    return this.#client.isRead;
  }

  get isWritten(): boolean {
    return this.#client.isWritten;
  }

  async getIndex(key: string): Promise<Uint8Array | undefined> {
    return await this.#get(indexId(key), MAX_INDEX_SIZE);
  }

  /** Returns all blobs of the entry, because the archive contains all. */
  async getContents(entry: CacheEntry): Promise<ReadonlyMap<string, Uint8Array> | undefined> {
    const bytes = await this.#get(contentsId(entry), MAX_CONTENTS_SIZE);
    return (bytes && readContents(bytes, blobHashesOf(entry))) ?? undefined;
  }

  async putContents(entry: CacheEntry, store: CacheStore): Promise<boolean> {
    const id = contentsId(entry);
    if (await this.#client.has(id)) return true;
    const contents = await packContents(blobHashesOf(entry), (digest) => store.readBlob(digest));
    return contents !== null && (await this.#put(id, contents, entry.duration));
  }

  async putIndex(key: string, { bytes, entries }: PackedIndex): Promise<boolean> {
    return await this.#put(indexId(key), bytes, entries[0]!.duration);
  }

  async finish(uses: readonly Use[]): Promise<void> {
    const events = uses.map(({ key, isHit, duration }) => ({
      hash: indexId(key),
      event: isHit ? ("HIT" as const) : ("MISS" as const),
      duration: Math.round(duration),
    }));
    await this.#client.sendEvents(events);
    this.abandon();
  }

  abandon(): void {
    this.#client.abandon();
  }

  async #get(id: string, maxSize: number): Promise<Uint8Array | undefined> {
    const artifact = await this.#client.get(id, maxSize);
    return artifact && this.#signer.open(id, artifact.bytes, artifact.tag);
  }

  async #put(id: string, bytes: Uint8Array, duration: number): Promise<boolean> {
    return await this.#client.put(id, bytes, duration, this.#signer.sign(id, bytes));
  }
}
