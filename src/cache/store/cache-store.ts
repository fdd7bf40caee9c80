// Stores cache entries in a content-addressed store on disk. eviction.ts limits its size.
//
// Files in <cache>/rt/scripts-5:
// - blobs/<ab>/<hash>: a blob.
// - keys/<key>/<c>-<hash>.zst: an entry, named by the hash of its identity and the hash of its bytes.
// - scripts/<id>.json: the explanation of a script's last hit or miss.
// - hashes/<id>, known/<id>: the file-hash cache and the entry snapshot.
// - there/<id>: digests of the blobs that a remote execution server has.
// - recalled/<id>: the run memos.
// - presence/<script>-<id>: the markers of running scripts.
// - secret: the key of the keyed hashes of environment variables.
//
// Invariants:
// - Every file appears by an atomic rename, so concurrent processes, a full disk or SIGKILL leave no partial file. A
//   file whose content does not match its hash is deleted.
// - Other users can neither write to the directory nor replace it.
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { makeOwnDirectory } from "../../../platform/files/path-ownership.ts";
import { makePrivate } from "../../../platform/files/private-file.ts";
import type { StoredEntry } from "../entry/entry.ts";
import { cacheDirectory } from "../../config/cache-directory.ts";
import { hashBytes, hashFile, HEX } from "./file-hash-cache.ts";
import { entryIdentity, hashInName, parseEntry } from "../entry/stored-entry.ts";
import { evictFiles } from "./eviction.ts";
import { filesIn, sizeOf, touch } from "./lru-files.ts";
import { FORMAT } from "../key/cache-key.ts";
import { ConcurrentRunDetector, sweep } from "../restore/concurrent-run-detector.ts";

/** Bytes. */
export const MAX_STORE_SIZE = 5 * 1024 ** 3;
/** A run may store two entries: clean-start.ts. */
const MAX_ENTRIES_PER_KEY = 16;
/** Milliseconds. Another process may be about to add an entry for a new blob. */
const GRACE = 10 * 60_000;
const EVICTION_INTERVAL = 10 * 60_000;

/** Returns undefined if there is no cache directory. */
export function storeDirectory(): string | undefined {
  const directory = cacheDirectory();
  return directory && join(directory, `scripts-${FORMAT}`);
}

/** Areas of derived data that can be lost: one file per project, server or run. */
type StoreArea = "hashes" | "known" | "there" | "recalled";

export class CacheStore {
  readonly directory: string;
  #secret: Uint8Array | undefined;

  /** @throws an Error with a complete sentence, or the system's error */
  constructor(directory: string) {
    this.directory = join(makeOwnDirectory(dirname(directory)), basename(directory));
    makePrivate(this.directory);
    for (const name of ["blobs", "keys", "scripts", "hashes", "known", "there", "presence", "drafts"])
      makePrivate(join(this.directory, name));
  }

  /** Returns the path "none" for an invalid digest, because callers delete files at these paths. */
  blobPath(hash: string): string {
    const name = /^[\da-f]{64}$/.test(hash) ? hash : "none";
    return join(this.directory, "blobs", name.slice(0, 2), name);
  }

  /** Returns the store's secret, with which variables are hashed. */
  secret(): Uint8Array {
    return (this.#secret ??= this.#openSecret());
  }

  #openSecret(): Uint8Array {
    const path = join(this.directory, "secret");
    const bytes = read(path);
    if (bytes?.length === 32) return bytes;
    const fresh = crypto.getRandomValues(new Uint8Array(32));
    if (bytes) this.#put(path, fresh);
    else this.#put(path, fresh, linkFirst);
    return readFileSync(path);
  }

  /** Adds the content of a file, which must not change concurrently. Returns its hash. */
  async addFile(path: string): Promise<string> {
    const draft = this.#draft();
    try {
      copyFileSync(path, draft, constants.COPYFILE_FICLONE);
      chmodSync(draft, 0o600);
      const hash = await hashFile(draft);
      this.#addBlob(draft, hash);
      return hash;
    } finally {
      rmSync(draft, { force: true });
    }
  }

  addBytes(bytes: Uint8Array): string {
    const hash = hashBytes(bytes);
    const draft = this.#draft();
    try {
      writeFileSync(draft, bytes, { mode: 0o600 });
      this.#addBlob(draft, hash);
      return hash;
    } finally {
      rmSync(draft, { force: true });
    }
  }

  /** Returns null if the blob is missing or corrupt. */
  readBlob(hash: string): Uint8Array | null {
    const path = this.blobPath(hash);
    const bytes = read(path);
    if (bytes && hashBytes(bytes) === hash) return bytes;
    rmSync(path, { force: true });
    return null;
  }

  /** Returns whether a blob exists and is intact. */
  async checkBlob(hash: string): Promise<boolean> {
    const path = this.blobPath(hash);
    try {
      if ((await hashFile(path)) === hash) return true;
    } catch {
      return false;
    }
    rmSync(path, { force: true });
    return false;
  }

  addEntry(key: string, entry: StoredEntry): void {
    const bytes = Bun.zstdCompressSync(JSON.stringify(entry));
    const directory = this.keyDirectory(key);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    // Of equal entries one is enough, unless they are valid for different roots.
    const conditions = hashBytes(entryIdentity(entry));
    for (const name of listNames(directory))
      if (name.startsWith(conditions)) rmSync(join(directory, name), { force: true });
    this.#put(join(directory, `${conditions}-${hashBytes(bytes)}.zst`), bytes);
    for (const { path } of this.#entryFiles(key).slice(MAX_ENTRIES_PER_KEY)) rmSync(path, { force: true });
  }

  /** @param script its name and its directory */
  announce(script: readonly string[]): ConcurrentRunDetector {
    return new ConcurrentRunDetector(join(this.directory, "presence"), script, this.#draft());
  }

  keyDirectory(key: string): string {
    return join(this.directory, "keys", key);
  }

  /** Yields the most recently used entry first. @param onRead called before each file is read */
  *entries(
    key: string,
    onRead?: (path: string) => void,
  ): Generator<{ readonly path: string; readonly entry: StoredEntry }> {
    for (const { path, hash } of this.#entryFiles(key)) {
      onRead?.(path);
      const entry = parseEntry(read(path), hash);
      if (entry) yield { path, entry };
      else rmSync(path, { force: true });
    }
  }

  #entryFiles(key: string): { path: string; hash: string; used: number }[] {
    const directory = this.keyDirectory(key);
    const names = listNames(directory).filter((name) => /^[\da-f]{64}-[\da-f]{64}\.zst$/.test(name));
    const found = names.map((name) => {
      const path = join(directory, name);
      return { path, hash: hashInName(name), used: timeOf(path) };
    });
    return found.sort((a, b) => b.used - a.used);
  }

  explanationPath(id: string): string {
    return join(this.directory, "scripts", `${id}.json`);
  }

  readExplanation(id: string): string | null {
    return read(this.explanationPath(id))?.toString() ?? null;
  }

  writeExplanation(id: string, text: string): void {
    this.#put(this.explanationPath(id), text);
  }

  /** Returns bytes; 0 if the file does not exist. */
  sizeOfText(kind: StoreArea, id: string): number {
    return statSync(join(this.directory, kind, id), { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Returns null if the file is missing or corrupt. */
  readBytes(kind: StoreArea, id: string): Buffer | null {
    const bytes = read(join(this.directory, kind, id));
    const content = bytes?.subarray(HEX + 1);
    return content && hashBytes(content) === bytes!.toString("latin1", 0, HEX) ? content : null;
  }

  readText(kind: StoreArea, id: string): string | null {
    return this.readBytes(kind, id)?.toString() ?? null;
  }

  write(kind: StoreArea, id: string, content: string | Uint8Array): void {
    this.#put(
      join(this.directory, kind, id),
      Buffer.concat([Buffer.from(`${hashBytes(content)}\n`), Buffer.from(content)]),
    );
  }

  scripts(): string[] {
    return listNames(join(this.directory, "scripts")).map((name) => name.replace(/\.json$/, ""));
  }

  measure(): { size: number; entries: number } {
    const files = filesIn(this.directory);
    const entries = files.filter(({ path }) => path.endsWith(".zst")).length;
    return { size: sizeOf(files), entries };
  }

  /** Evicts at most once per interval, because it reads the whole directory tree. */
  maybeEvict(): void {
    const mark = join(this.directory, "shrunk");
    if (Date.now() - timeOf(mark) < EVICTION_INTERVAL) return;
    this.#put(mark, "");
    this.evict();
  }

  /** @param limit bytes */
  evict(limit = MAX_STORE_SIZE, grace = GRACE): void {
    sweep(join(this.directory, "presence"));
    evictFiles(this.directory, limit, grace);
  }

  /** Returns a random path: containers that share the directory have equal process IDs. */
  #draft(): string {
    return join(this.directory, "drafts", crypto.randomUUID());
  }

  #put(path: string, content: string | Uint8Array, name: typeof linkFirst = renameSync): void {
    const draft = this.#draft();
    try {
      writeFileSync(draft, content, { mode: 0o600 });
      name(draft, path);
    } finally {
      rmSync(draft, { force: true });
    }
  }

  #addBlob(draft: string, hash: string): void {
    const path = this.blobPath(hash);
    const isThere = () => existsSync(path) && statSync(path).size === statSync(draft).size;
    if (isThere()) return touch(path);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    try {
      renameSync(draft, path);
    } catch (error) {
      // Windows cannot replace an open file. In this race, another process has created the same blob.
      if (!isThere()) throw error;
    }
  }
}

/** Creates the file if it does not exist: other processes may already use the first one (no race). */
function linkFirst(draft: string, path: string): void {
  try {
    linkSync(draft, path);
  } catch {
    // The file system has no hard links.
    if (!existsSync(path)) renameSync(draft, path);
  }
}

function read(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    return null;
  }
}

function listNames(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function timeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
