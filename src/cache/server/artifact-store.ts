// Stores the artifacts of `rt cache serve` on disk: contents by digest, and names by namespace.
//
//   <directory>/blobs/<ab>/<sha256>        a content
//               names/<namespace>/<name>   JSON: digest, size, duration and tag
//               drafts                     unfinished uploads
//
// Invariants:
// - Every file appears by an atomic rename. A content is compared with its digest before it is sent.
// - A name is found only in its namespace. The least recently used names are evicted when the size exceeds the limit.
// - Unfinished uploads count toward the limit from their first byte.
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { requireOwnParent } from "../../../platform/files/path-ownership.ts";
import { makePrivate } from "../../../platform/files/private-file.ts";
import { hashBytes, hashFile } from "../store/file-hash-cache.ts";
import { filesIn, type StoreFile, sizeOf, touch } from "../store/lru-files.ts";

/** Scope ("" is the main scope), team and client type. */
export interface ArtifactNamespace {
  readonly scope: string;
  readonly team: string;
  readonly kind: string;
}

export interface StoredArtifact {
  /** Digest of the content. */
  readonly hash: string;
  readonly size: number;
  /** Value of the client's header; "" if it was missing. */
  readonly duration: string;
  readonly tag: string;
}

/** An upload without a name. */
export interface PendingArtifact {
  readonly path: string;
  readonly hash: string;
  readonly size: number;
}

/** Share of the limit that remains after an eviction. */
const EVICTION_TARGET = 0.9;
/** Bytes of one name: a disk block. Empty contents may have any number of names. */
const NAME_SIZE = 4096;
/** Milliseconds. The server closes a connection that is idle for less, so no upload writes to such an old draft. */
const ABANDONED_AFTER = 600_000;

/** Concurrent uploads reach the limit although no artifact is finished. */
export class NoRoomError extends Error {
  override readonly name = "NoRoomError";
}

export class ArtifactStore {
  readonly directory: string;
  #limit: number;
  /** Bytes of finished artifacts, and of drafts of other processes. */
  #size: number;
  /** Bytes of this process's drafts by path. */
  readonly #drafts = new Map<string, number>();

  /**
   * @param limit bytes
   * @throws an Error with a complete sentence, or the system's error
   */
  constructor(directory: string, limit: number) {
    this.directory = directory;
    this.#limit = limit;
    mkdirSync(dirname(directory), { recursive: true, mode: 0o700 });
    requireOwnParent(directory);
    makePrivate(directory);
    for (const name of ["blobs", "names", "drafts"]) makePrivate(join(directory, name));
    this.#size = sizeOf(this.#blobs()) + this.#names().length * NAME_SIZE + this.#removeAbandoned();
  }

  /** Bytes. */
  get size(): number {
    return this.#size + this.#received;
  }

  set limit(bytes: number) {
    this.#limit = bytes;
    this.#trim();
  }

  find(namespace: ArtifactNamespace, name: string): StoredArtifact | undefined {
    try {
      return JSON.parse(readFileSync(this.#namePath(namespace, name), "utf8")) as StoredArtifact;
    } catch {
      return undefined;
    }
  }

  /**
   * Returns whether the content exists, without reading it. Counts as a use: the client will not upload the artifact.
   */
  isThere(namespace: ArtifactNamespace, name: string, { hash, size }: StoredArtifact): boolean {
    if (!hasSize(this.#blobPath(hash), size)) return false;
    touch(this.#namePath(namespace, name));
    return true;
  }

  /** Returns the file of the content. Deletes the artifact and returns undefined if the content is corrupt. */
  async open(
    namespace: ArtifactNamespace,
    name: string,
    { hash }: StoredArtifact,
  ): Promise<string | undefined> {
    const path = this.#blobPath(hash);
    const isWhole = await hashFile(path).then(
      (found) => found === hash,
      () => false,
    );
    if (isWhole) {
      touch(this.#namePath(namespace, name));
      return path;
    }
    rmSync(path, { force: true });
    rmSync(this.#namePath(namespace, name), { force: true });
    return undefined;
  }

  /** Returns undefined if the body is too large. @throws if the body is truncated, or there is no space */
  async receive(
    body: ReadableStream<Uint8Array> | null,
    maxSize: number,
  ): Promise<PendingArtifact | undefined> {
    const path = join(this.directory, "drafts", crypto.randomUUID());
    const hasher = new Bun.CryptoHasher("sha256");
    const file = openSync(path, "wx", 0o600);
    let size = 0;
    let isKept = false;
    try {
      for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
        size += chunk.length;
        if (size > Math.min(maxSize, this.#limit - NAME_SIZE)) return undefined;
        this.#drafts.set(path, size);
        this.#trim();
        if (this.size > this.#limit) throw new NoRoomError();
        hasher.update(chunk);
        for (let at = 0; at < chunk.length;) at += writeSync(file, chunk, at);
      }
      isKept = true;
      return { path, hash: hasher.digest("hex"), size };
    } finally {
      closeSync(file);
      if (!isKept) this.drop({ path });
    }
  }

  drop({ path }: Pick<PendingArtifact, "path">): void {
    this.#drafts.delete(path);
    rmSync(path, { force: true });
  }

  put(
    namespace: ArtifactNamespace,
    name: string,
    draft: PendingArtifact,
    metadata: Pick<StoredArtifact, "duration" | "tag">,
  ): void {
    const { hash, size } = draft;
    try {
      const path = this.#blobPath(hash);
      if (hasSize(path, size)) touch(path);
      else {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        renameSync(draft.path, path);
        this.#size += size;
      }
      const artifact: StoredArtifact = { hash, size, ...metadata };
      const named = `${draft.path}.name`;
      writeFileSync(named, JSON.stringify(artifact), { mode: 0o600 });
      const place = this.#namePath(namespace, name);
      mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
      if (!existsSync(place)) this.#size += NAME_SIZE;
      renameSync(named, place);
    } finally {
      this.drop(draft);
      rmSync(`${draft.path}.name`, { force: true });
    }
    this.#trim();
  }

  /** Evicts a fixed share when the disk is full, whatever the upload's size. Returns false if nothing was evicted. */
  makeRoom(): boolean {
    return this.#shrinkTo(this.#size * EVICTION_TARGET);
  }

  /** False if there was nothing to evict. */
  clear(): boolean {
    return this.#shrinkTo(0);
  }

  get #received(): number {
    return this.#drafts.values().reduce((sum, size) => sum + size, 0);
  }

  #trim(): void {
    if (this.size > this.#limit) this.#shrinkTo(this.#limit * EVICTION_TARGET - this.#received);
  }

  /** Deletes abandoned drafts. Returns the bytes of the others, to which another process may write. */
  #removeAbandoned(): number {
    const others = filesIn(join(this.directory, "drafts")).filter(({ path }) => !this.#drafts.has(path));
    const isAbandoned = ({ used }: StoreFile) => Date.now() - used > ABANDONED_AFTER;
    for (const draft of others) if (isAbandoned(draft)) rmSync(draft.path, { force: true });
    return sizeOf(others.filter((draft) => !isAbandoned(draft)));
  }

  /** Evicts the least recently used names, and contents without a name. Returns false if nothing was evicted. */
  #shrinkTo(most: number): boolean {
    const blobs = new Map(this.#blobs().map((each) => [each.path.slice(-64), each]));
    const names = this.#names().sort((a, b) => a.used - b.used);
    const meant = names.map(({ path }) => ({ path, hash: hashIn(path) }));
    const uses = new Map<string, number>();
    for (const { hash } of meant) uses.set(hash, (uses.get(hash) ?? 0) + 1);
    let size = sizeOf([...blobs.values()]) + names.length * NAME_SIZE + this.#removeAbandoned();
    const before = size;
    const drop = (hash: string) => {
      rmSync(this.#blobPath(hash), { force: true });
      size -= blobs.get(hash)?.size ?? 0;
    };
    for (const hash of blobs.keys()) if (!uses.has(hash)) drop(hash);
    for (const { path, hash } of meant) {
      if (size <= most) break;
      rmSync(path, { force: true });
      size -= NAME_SIZE;
      uses.set(hash, uses.get(hash)! - 1);
      if (uses.get(hash) === 0) drop(hash);
    }
    this.#size = size;
    return size < before;
  }

  #names() {
    return filesIn(join(this.directory, "names"));
  }

  #blobs() {
    return filesIn(join(this.directory, "blobs"));
  }

  #blobPath(hash: string): string {
    return join(this.directory, "blobs", hash.slice(0, 2), hash);
  }

  /** Hashes all parts that a client controls (path traversal). */
  #namePath({ scope, team, kind }: ArtifactNamespace, name: string): string {
    const namespace = hashBytes(JSON.stringify([scope, team, kind]));
    return join(this.directory, "names", namespace, hashBytes(name));
  }
}

function hasSize(path: string, size: number): boolean {
  return statSync(path, { throwIfNoEntry: false })?.size === size;
}

function hashIn(path: string): string {
  try {
    return (JSON.parse(readFileSync(path, "utf8")) as StoredArtifact).hash;
  } catch {
    return "";
  }
}
