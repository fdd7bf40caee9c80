// Uploads blobs to a content-addressed store (CAS), each once in a run. A blob that the server had in an earlier run is skipped
// (blob-presence-cache.ts).
//
// Invariants:
// - A call resolves when the server has all its blobs, also those that another call uploads.
// - No other call waits for late blobs, because their producer may upload the same content.
// - After `forget`, when the server has lost a blob, presence is checked again for all.
//
// Non-obvious: if most blobs are present, the others are new. A few small ones are then uploaded without a
// FindMissingBlobs call.
import type { Blob, CasClient } from "./cas-client.ts";
import type { BlobPresenceCache } from "./blob-presence-cache.ts";

/** Bytes that take less time than a request and its response. */
const MAX_UNCHECKED_SIZE = 256 << 10;
const PRESENT = Promise.resolve();

export class BlobUploader {
  readonly #store: Pick<CasClient, "upload">;
  readonly #presenceCache: BlobPresenceCache;
  /** By hash: resolves when the blob is present. */
  #uploads = new Map<string, Promise<void>>();

  constructor(store: Pick<CasClient, "upload">, presenceCache: BlobPresenceCache) {
    this.#store = store;
    this.#presenceCache = presenceCache;
  }

  async send(blobs: readonly Blob[]): Promise<void> {
    await this.#send(blobs, true);
  }

  /** @param isRecorded whether the presence of each blob is cached for later runs */
  async #send(blobs: readonly Blob[], isRecorded: boolean): Promise<void> {
    const unknown = blobs.filter(({ digest }) => !this.#isPresent(digest.hash));
    if (unknown.length > 0) {
      const isNew = unknown.length < blobs.length / 2 && sizeOf(unknown) <= MAX_UNCHECKED_SIZE;
      const names = unknown.map(({ digest }) => digest.hash);
      this.#track(
        names,
        this.#store.upload(unknown, isNew).then(() => {
          if (isRecorded) this.#presenceCache.add(names);
        }),
      );
    }
    await Promise.all(new Set(blobs.flatMap(({ digest }) => this.#uploads.get(digest.hash) ?? [])));
  }

  #isPresent(name: string): boolean {
    if (this.#uploads.has(name)) return true;
    if (!this.#presenceCache.has(name)) return false;
    this.#uploads.set(name, PRESENT);
    return true;
  }

  /** Uploads blobs whose content is available only after another task has produced it. */
  async sendLate(blobs: readonly Blob[]): Promise<void> {
    const uploads = this.#uploads;
    const unknown = blobs.filter(({ digest }) => !uploads.has(digest.hash));
    const others = new Set(blobs.flatMap(({ digest }) => uploads.get(digest.hash) ?? []));
    if (unknown.length > 0) await this.#store.upload(unknown);
    for (const { digest } of unknown)
      if (!uploads.has(digest.hash)) uploads.set(digest.hash, Promise.resolve());
    await Promise.all(others);
  }

  /** A tree is present if all its blobs are; its own digest represents them in the cache. */
  async sendTree(tree: { readonly digest: { readonly hash: string }; readonly blobs: readonly Blob[] }) {
    const name = `tree ${tree.digest.hash}`;
    if (!this.#isPresent(name))
      this.#track(
        [name],
        this.#send(tree.blobs, false).then(() => this.#presenceCache.add([name])),
      );
    await this.#uploads.get(name);
  }

  forget(): void {
    this.#uploads = new Map();
    this.#presenceCache.clear();
  }

  /** A failed upload is removed, so that it can be repeated. */
  #track(names: readonly string[], sending: Promise<void>): void {
    const uploads = this.#uploads;
    for (const name of names) uploads.set(name, sending);
    sending.catch(() => {
      for (const name of names) if (uploads.get(name) === sending) uploads.delete(name);
    });
  }
}

/** Total bytes. */
function sizeOf(blobs: readonly Blob[]): number {
  return blobs.reduce((sum, { digest }) => sum + digest.size, 0);
}
