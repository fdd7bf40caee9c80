// What a run has sent: each content is asked for and sent once, however many actions need it, and not at all where an earlier
// run has seen that it is there.
//
// Contract: a call is settled when the server has all of its content, also that which another call is sending. What is late
// nobody else waits for: who is to make it may have the same content to send. After `forget`, when the server has lost
// something, everything is asked for again.
//
// Surprising: where most is known to be there, what is not is new, and so it is sent without a question, if it is little.
import type { Blob, CasClient } from "./cas-client.ts";
import type { BlobPresenceCache } from "./blob-presence-cache.ts";

/** Bytes: they take less time than a question and its answer. */
const LITTLE = 256 << 10;
const THERE = Promise.resolve();

export class BlobUploader {
  readonly #store: Pick<CasClient, "upload">;
  readonly #seen: BlobPresenceCache;
  /** By hash: settled when it is there. */
  #known = new Map<string, Promise<void>>();

  constructor(store: Pick<CasClient, "upload">, seen: BlobPresenceCache) {
    this.#store = store;
    this.#seen = seen;
  }

  async send(blobs: readonly Blob[]): Promise<void> {
    await this.#send(blobs, true);
  }

  /** @param isNoted whether later runs may ask for each of them */
  async #send(blobs: readonly Blob[], isNoted: boolean): Promise<void> {
    const fresh = blobs.filter(({ digest }) => !this.#isKnown(digest.hash));
    if (fresh.length > 0) {
      const isNew = fresh.length < blobs.length / 2 && sizeOf(fresh) <= LITTLE;
      const names = fresh.map(({ digest }) => digest.hash);
      this.#remember(
        names,
        this.#store.upload(fresh, isNew).then(() => {
          if (isNoted) this.#seen.note(names);
        }),
      );
    }
    await Promise.all(new Set(blobs.flatMap(({ digest }) => this.#known.get(digest.hash) ?? [])));
  }

  #isKnown(name: string): boolean {
    if (this.#known.has(name)) return true;
    if (!this.#seen.has(name)) return false;
    this.#known.set(name, THERE);
    return true;
  }

  /** Content that can be read only when somebody else has made it. */
  async sendLate(blobs: readonly Blob[]): Promise<void> {
    const known = this.#known;
    const fresh = blobs.filter(({ digest }) => !known.has(digest.hash));
    const others = new Set(blobs.flatMap(({ digest }) => known.get(digest.hash) ?? []));
    if (fresh.length > 0) await this.#store.upload(fresh);
    for (const { digest } of fresh) if (!known.has(digest.hash)) known.set(digest.hash, Promise.resolve());
    await Promise.all(others);
  }

  /** A tree is there when all of it is, which its own digest then stands for. */
  async sendTree(tree: { readonly digest: { readonly hash: string }; readonly blobs: readonly Blob[] }) {
    const name = `tree ${tree.digest.hash}`;
    if (!this.#isKnown(name))
      this.#remember(
        [name],
        this.#send(tree.blobs, false).then(() => this.#seen.note([name])),
      );
    await this.#known.get(name);
  }

  forget(): void {
    this.#known = new Map();
    this.#seen.forget();
  }

  /** What could not be sent is not known. */
  #remember(names: readonly string[], sending: Promise<void>): void {
    const known = this.#known;
    for (const name of names) known.set(name, sending);
    sending.catch(() => {
      for (const name of names) if (known.get(name) === sending) known.delete(name);
    });
  }
}

/** Bytes. */
function sizeOf(blobs: readonly Blob[]): number {
  return blobs.reduce((sum, { digest }) => sum + digest.size, 0);
}
