// The shared cache of a run: entries of others, by the key of a script, and what this run has to offer them.
//
// Contract: src/cache/shared.ts, and never the reason that a script fails or waits long. What is not signed with the key
// counts for nothing, and that is told once. What comes is checked by its digests, and where it may lie (bounds.ts), before
// any of it is believed.
import type { RemoteCacheSettings } from "../../settings/remote-cache.ts";
import { contentsOf, type Entry, type KeptEntry } from "../entry.ts";
import type { Place, SharedCache } from "../shared.ts";
import type { Store } from "../store.ts";
import {
  contentsId,
  indexId,
  LARGEST_CONTENTS,
  LARGEST_INDEX,
  packContents,
  packIndex,
  readContents,
  readIndex,
} from "./artifact.ts";
import { findOutside } from "./bounds.ts";
import { Client, type UseEvent } from "./client.ts";
import { isSigned, signArtifact } from "./signature.ts";
import { Uploads } from "./uploads.ts";

export interface Credentials {
  readonly token: string;
  /** Undefined where nothing is signed. */
  readonly signatureKey: string | undefined;
}

const UNSIGNED = "What the shared cache has is not signed with this key, so it is not used";
const PURPOSE = "rt variables 1";

export class RemoteCache implements SharedCache {
  readonly secret: Uint8Array;
  readonly #settings: RemoteCacheSettings;
  readonly #client: Client;
  readonly #key: Uint8Array | undefined;
  readonly #uploads = new Uploads();
  readonly #events: UseEvent[] = [];
  readonly #told = new Set<string>();
  #lines: string[] = [];
  #listener: ((line: string) => void) | undefined;

  constructor(settings: RemoteCacheSettings, { token, signatureKey }: Credentials) {
    this.#settings = settings;
    this.#key = signatureKey === undefined ? undefined : new TextEncoder().encode(signatureKey);
    this.#client = new Client(settings, token, (line) => this.#tell(line));
    this.secret = new Bun.CryptoHasher("sha256", this.#key ?? PURPOSE).update(PURPOSE).digest();
  }

  get isRead(): boolean {
    return this.#client.isRead;
  }

  get isWritten(): boolean {
    return this.#client.isWritten;
  }

  /** Who is told what went wrong, also before. */
  listen(listener: (line: string) => void): void {
    this.#listener = listener;
    for (const line of this.#lines) listener(line);
    this.#lines = [];
  }

  async find(key: string): Promise<readonly KeptEntry[]> {
    return this.isRead ? await this.#readIndex(key) : [];
  }

  async #readIndex(key: string): Promise<readonly KeptEntry[]> {
    const bytes = await this.#get(indexId(key), LARGEST_INDEX);
    return (bytes && readIndex(bytes)) ?? [];
  }

  findOutside(entry: Entry, place: Place): string | undefined {
    return findOutside(entry, place);
  }

  async fetch(entry: Entry, store: Store): Promise<boolean> {
    const digests = contentsOf(entry);
    const isHere = await Promise.all(digests.map((digest) => store.checkBlob(digest)));
    if (isHere.every(Boolean)) return true;
    if (!this.isRead) return false;
    const bytes = await this.#get(contentsId(entry), LARGEST_CONTENTS);
    const contents = bytes && readContents(bytes, digests);
    if (!contents) return false;
    try {
      for (const content of contents.values()) store.keepBytes(content);
      return true;
    } catch {
      return false; // a full disk
    }
  }

  note(key: string, isHit: boolean, duration: number): void {
    this.#events.push({ hash: indexId(key), event: isHit ? "HIT" : "MISS", duration: Math.round(duration) });
  }

  async offer(key: string, entry: KeptEntry, store: Store): Promise<boolean> {
    if (!this.isWritten) return false;
    return await this.#uploads.add(async () => {
      try {
        return await this.#upload(key, entry, store);
      } catch (error) {
        this.#tell(`What a script made could not be shared: ${(error as Error).message}`);
        return false;
      }
    });
  }

  /** Contents first, so that no index names what is not there. */
  async #upload(key: string, entry: KeptEntry, store: Store): Promise<boolean> {
    const id = contentsId(entry);
    if (!(await this.#client.has(id))) {
      const contents = await packContents(contentsOf(entry), (digest) => store.readBlob(digest));
      if (!contents || !(await this.#put(id, contents, entry.duration))) return false;
    }
    // Of several that do this at once the last one wins; what it did not know of is a run more for somebody.
    const index = await packIndex(entry, await this.#readIndex(key));
    return index !== null && (await this.#put(indexId(key), index, entry.duration));
  }

  async #get(id: string, largest: number): Promise<Uint8Array | undefined> {
    const artifact = await this.#client.get(id, largest);
    if (!artifact) return undefined;
    const { bytes, tag } = artifact;
    if (!this.#key || isSigned(tag, this.#key, id, this.#teamId, bytes)) return bytes;
    this.#tell(UNSIGNED);
    return undefined;
  }

  async #put(id: string, bytes: Uint8Array, duration: number): Promise<boolean> {
    const tag = this.#key && signArtifact(this.#key, id, this.#teamId, bytes);
    return await this.#client.put(id, bytes, duration, tag);
  }

  get #teamId(): string {
    return this.#settings.teamId ?? "";
  }

  /** When the run is over: waits for uploads, for so long as was agreed. */
  async finish(): Promise<void> {
    const { uploadTimeout } = this.#settings;
    const left = await this.#uploads.finish(uploadTimeout);
    if (left > 0)
      this.#tell(
        `What ${left} ${left === 1 ? "script" : "scripts"} made was not uploaded within ${uploadTimeout / 1000} s`,
      );
    else await this.#client.sendEvents(this.#events.splice(0));
    this.#client.abandon();
  }

  /** The run was ended: nobody waits for anything. */
  abandon(): void {
    this.#uploads.abandon();
    this.#client.abandon();
  }

  #tell(line: string): void {
    if (this.#told.has(line)) return;
    this.#told.add(line);
    if (this.#listener) this.#listener(line);
    else this.#lines.push(line);
  }
}
