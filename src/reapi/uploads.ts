// What a run has sent: each content is asked for and sent once, however many actions need it.
//
// Contract: a call is settled when the server has all of its content, also that which another call is sending. What is late
// nobody else waits for: who is to make it may have the same content to send. After `forget`, when the server has lost
// something, everything is asked for again.
import type { Blob, ContentStore } from "./content.ts";

export class Uploads {
  readonly #store: Pick<ContentStore, "upload">;
  /** By hash: settled when it is there. */
  #known = new Map<string, Promise<void>>();

  constructor(store: Pick<ContentStore, "upload">) {
    this.#store = store;
  }

  async send(blobs: readonly Blob[]): Promise<void> {
    const fresh = blobs.filter(({ digest }) => !this.#known.has(digest.hash));
    if (fresh.length > 0) this.#begin(fresh);
    await Promise.all(new Set(blobs.map(({ digest }) => this.#known.get(digest.hash))));
  }

  /** Content that can be read only when somebody else has made it. */
  async sendLate(blobs: readonly Blob[]): Promise<void> {
    const known = this.#known;
    const fresh = blobs.filter(({ digest }) => !known.has(digest.hash));
    const others = new Set(blobs.map(({ digest }) => known.get(digest.hash)));
    if (fresh.length > 0) await this.#store.upload(fresh);
    for (const { digest } of fresh) if (!known.has(digest.hash)) known.set(digest.hash, Promise.resolve());
    await Promise.all(others);
  }

  /** A tree is there when all of it is, which its own digest then stands for. */
  async sendTree(tree: { readonly digest: { readonly hash: string }; readonly blobs: readonly Blob[] }) {
    const name = `tree ${tree.digest.hash}`;
    if (!this.#known.has(name)) this.#remember([name], this.send(tree.blobs));
    await this.#known.get(name);
  }

  forget(): void {
    this.#known = new Map();
  }

  #begin(blobs: readonly Blob[]): void {
    this.#remember(
      blobs.map(({ digest }) => digest.hash),
      this.#store.upload(blobs).then(() => {}),
    );
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
