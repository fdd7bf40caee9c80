// The shared cache of a run: entries of others, by the key of a script, and what this run has to offer them.
//
// Contract: src/cache/shared-cache.ts, and never the reason that a script fails or waits long. Whoever speaks with the server
// (backend.ts), what comes is checked here by its digests, and where it may lie (shareable-outputs.ts), before any of it is believed;
// what is not signed with the key counts for nothing. What goes wrong is told once. Nobody is spoken to, and nothing
// loaded for that, before something is asked or offered.
import { errorMessage } from "../../../platform/caught-error.ts";
import type { RemoteCacheSettings } from "../../config/settings/remote-cache.ts";
import { oneLine } from "../../printable.ts";
import { blobHashesOf, type CacheEntry, type StoredEntry } from "../entry/entry.ts";
import type { ShareScope, SharedCache } from "../shared-cache.ts";
import type { CacheStore } from "../store/cache-store.ts";
import { describeUnusable } from "./response-actions.ts";
import { packIndex, readIndex } from "./artifact.ts";
import { findUnshareableOutput } from "./shareable-outputs.ts";
import type { CacheBackend, Warn, Use } from "./backend.ts";
import { ArtifactSigner } from "./signature.ts";
import { UploadQueue } from "./upload-queue.ts";

type RemoteCacheOptions = Pick<RemoteCacheSettings, "isRead" | "isWritten" | "uploadTimeout">;

export interface Identity {
  /** Undefined where nothing is signed. */
  readonly signatureKey: string | undefined;
  /** What a signature is good for, besides its id: a part of the server. */
  readonly teamId: string;
}

/** May throw, with a sentence. */
export type OpenBackend = (signer: ArtifactSigner, warn: Warn) => Promise<CacheBackend>;

const PURPOSE = "rt variables 1";

export class RemoteCache implements SharedCache {
  readonly secret: Uint8Array;
  readonly #settings: RemoteCacheOptions;
  readonly #open: OpenBackend;
  readonly #signer: ArtifactSigner;
  readonly #uploads = new UploadQueue();
  readonly #uses: Use[] = [];
  readonly #printed = new Set<string>();
  #lines: string[] = [];
  #listener: Warn | undefined;
  #opening: Promise<CacheBackend | undefined> | undefined;
  #backend: CacheBackend | undefined;
  #isFinished = false;

  constructor(settings: RemoteCacheOptions, { signatureKey, teamId }: Identity, open: OpenBackend) {
    this.#settings = settings;
    this.#open = open;
    const key = signatureKey === undefined ? undefined : new TextEncoder().encode(signatureKey);
    this.#signer = new ArtifactSigner(key, teamId, (line) => this.#warn(line));
    this.secret = new Bun.CryptoHasher("sha256", key ?? PURPOSE).update(PURPOSE).digest();
  }

  get isRead(): boolean {
    return !this.#isFinished && (this.#backend ?? this.#settings).isRead;
  }

  get isWritten(): boolean {
    return !this.#isFinished && (this.#backend ?? this.#settings).isWritten;
  }

  /** Who is told what went wrong, also before. */
  listen(listener: Warn): void {
    this.#listener = listener;
    for (const line of this.#lines) listener(line);
    this.#lines = [];
  }

  async find(key: string): Promise<readonly StoredEntry[]> {
    return this.isRead ? await this.#readIndex(key) : [];
  }

  async #readIndex(key: string): Promise<readonly StoredEntry[]> {
    const backend = await this.#reach();
    const bytes = await backend?.getIndex(key);
    return (bytes && readIndex(bytes)) ?? [];
  }

  findOutside(entry: CacheEntry, scope: ShareScope): string | undefined {
    return findUnshareableOutput(entry, scope);
  }

  async fetch(entry: CacheEntry, store: CacheStore): Promise<boolean> {
    const digests = blobHashesOf(entry);
    const isHere = await Promise.all(digests.map((digest) => store.checkBlob(digest)));
    const missing = digests.filter((_, at) => !isHere[at]);
    if (missing.length === 0) return true;
    if (!this.isRead) return false;
    const backend = await this.#reach();
    const contents = await backend?.getContents(entry, missing);
    try {
      return missing.every((digest) => {
        const content = contents?.get(digest);
        return content !== undefined && store.addBytes(content) === digest;
      });
    } catch {
      return false; // a full disk
    }
  }

  note(key: string, isHit: boolean, duration: number): void {
    this.#uses.push({ key, isHit, duration });
  }

  async offer(key: string, entry: StoredEntry, store: CacheStore): Promise<boolean> {
    if (!this.isWritten) return false;
    return await this.#uploads.add(async () => {
      try {
        return await this.#upload(key, entry, store);
      } catch (error) {
        this.#warn(`What a script made could not be shared: ${oneLine(errorMessage(error))}`);
        return false;
      }
    });
  }

  /** Contents first, so that no index names what is not there. */
  async #upload(key: string, entry: StoredEntry, store: CacheStore): Promise<boolean> {
    const backend = await this.#reach();
    if (!backend?.isWritten || !(await backend.putContents(entry, store))) return false;
    // Of several that do this at once the last one wins; what it did not know of is a run more for somebody.
    const index = await packIndex(entry, await this.#readIndex(key));
    return index !== null && (await backend.putIndex(key, index));
  }

  async #reach(): Promise<CacheBackend | undefined> {
    this.#opening ??= this.#open(this.#signer, (line) => this.#warn(line)).then(
      (backend) => (this.#backend = backend),
      (error: unknown) => {
        this.#isFinished = true;
        this.#warn(describeUnusable(oneLine(errorMessage(error))));
        return undefined;
      },
    );
    const backend = await this.#opening;
    if (this.#isFinished) backend?.abandon();
    return this.#isFinished ? undefined : backend;
  }

  /** When the run is over: waits for uploads, for so long as was agreed. */
  async finish(): Promise<void> {
    const { uploadTimeout } = this.#settings;
    const pending = await this.#uploads.finish(uploadTimeout);
    if (pending > 0)
      this.#warn(
        `What ${pending} ${pending === 1 ? "script" : "scripts"} made was not uploaded within ${uploadTimeout / 1000} s`,
      );
    else await this.#backend?.finish(this.#uses.splice(0));
    this.abandon();
  }

  /** The run was ended: nobody waits for anything. */
  abandon(): void {
    this.#isFinished = true;
    this.#uploads.abandon();
    this.#backend?.abandon();
  }

  #warn(line: string): void {
    if (this.#printed.has(line)) return;
    this.#printed.add(line);
    if (this.#listener) this.#listener(line);
    else this.#lines.push(line);
  }
}
