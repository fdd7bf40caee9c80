// What a served cache has, on the disk: contents by their digests, and for each scope the names under which they were given.
//
//   <directory>/blobs/<ab>/<sha256>      a content
//               names/<space>/<name>     JSON: which content, and what was said of it
//               drafts                   what is being received
//
// Contract: as src/cache/store/cache-store.ts: everything appears by a rename, and what is read is compared with its digest first. A name
// is only found in its own space, whatever contents others have. The least recently used artifacts are evicted when the size
// exceeds the limit. Unfinished uploads count toward the limit from their first byte on.
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

/** Who sees a name: a scope ("" is the main one), the team and the kind of client. */
export interface ArtifactNamespace {
  readonly scope: string;
  readonly team: string;
  readonly kind: string;
}

export interface StoredArtifact {
  /** Of the content. */
  readonly hash: string;
  readonly size: number;
  /** As the client said it; "" where it did not. */
  readonly duration: string;
  readonly tag: string;
}

/** Received, and not yet under a name. */
export interface PendingArtifact {
  readonly path: string;
  readonly hash: string;
  readonly size: number;
}

/** What is left when something has to go. */
const EVICTION_TARGET = 0.9;
/** Bytes: a name takes a block of the disk, however little it says, and contents of nothing may have any number of them. */
const NAME_SIZE = 4096;
/** Milliseconds. A server closes a connection that is idle for less, so no upload still writes to a draft that old. */
const ABANDONED_AFTER = 600_000;

/** Concurrent uploads use up the limit, even without any finished artifact. */
export class NoRoomError extends Error {
  override readonly name = "NoRoomError";
}

export class ArtifactStore {
  readonly directory: string;
  #limit: number;
  /** Finished artifacts, and drafts that another process has left. */
  #size: number;
  /** Bytes of the drafts of this process, by their paths. */
  readonly #drafts = new Map<string, number>();

  /** @param limit bytes. Throws an Error with a sentence, or the system's */
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
   * Whether its content is there, as far as that can be told without reading it. Who asks does not send it then, and goes on
   * needing it: that is a use, too.
   */
  isThere(namespace: ArtifactNamespace, name: string, { hash, size }: StoredArtifact): boolean {
    if (!hasSize(this.#blobPath(hash), size)) return false;
    touch(this.#namePath(namespace, name));
    return true;
  }

  /** The file of its content; undefined where that is not whole, and then it is nobody's any more. */
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

  /** Undefined where it is longer than it may be; throws where it breaks off, or there is no room, here or on the disk. */
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

  /** The disk has less room than the limit says. How much goes is nothing that a client says. False if nothing went. */
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

  /** Bytes of those that are left: another process may still write to them. */
  #removeAbandoned(): number {
    const others = filesIn(join(this.directory, "drafts")).filter(({ path }) => !this.#drafts.has(path));
    const isAbandoned = ({ used }: StoreFile) => Date.now() - used > ABANDONED_AFTER;
    for (const draft of others) if (isAbandoned(draft)) rmSync(draft.path, { force: true });
    return sizeOf(others.filter((draft) => !isAbandoned(draft)));
  }

  /** By names, the one that was used longest ago first; and the contents that no name is left of. False if nothing went. */
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

  /** Whatever a client calls it, no part of a path is of its choice. */
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
