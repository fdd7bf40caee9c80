// Implements the shared cache of a run on a backend: looks up entries, downloads blobs and uploads new entries.
//
// Invariants:
// - A shared cache never fails a script or delays it beyond the timeout. Each problem is reported once.
// - Received data is untrusted: blobs are verified by digest, paths by shareable-outputs.ts, and an index by its
//   signature. These checks prevent cache poisoning.
// - The backend is opened at the first lookup or upload.
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
  /** Undefined if artifacts are not signed. */
  readonly signatureKey: string | undefined;
  /** Part of each signature: the team, or the instance of the server. */
  readonly teamId: string;
}

/** Opens a backend. @throws an Error with a complete sentence */
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

  /** Sets the listener, and passes it the earlier warnings. */
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
      return false; // disk full
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
        this.#warn(`Shared cache: upload failed: ${oneLine(errorMessage(error))}`);
        return false;
      }
    });
  }

  /** Uploads blobs before the index, so that no index refers to a missing blob. */
  async #upload(key: string, entry: StoredEntry, store: CacheStore): Promise<boolean> {
    const backend = await this.#reach();
    if (!backend?.isWritten || !(await backend.putContents(entry, store))) return false;
    // Race: of concurrent updates the last one wins. A lost entry costs another machine one run.
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

  /** Waits for uploads after the run, up to the upload timeout. */
  async finish(): Promise<void> {
    const { uploadTimeout } = this.#settings;
    const pending = await this.#uploads.finish(uploadTimeout);
    if (pending > 0)
      this.#warn(
        `Shared cache: outputs of ${pending} ${pending === 1 ? "script" : "scripts"} were not uploaded within ${uploadTimeout / 1000} s`,
      );
    else await this.#backend?.finish(this.#uses.splice(0));
    this.abandon();
  }

  /** Aborts all uploads, because the run was interrupted. */
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
