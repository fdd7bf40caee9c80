// What is kept, on the disk: contents by their hashes, and for each key the entries of the last runs.
//
//   <cache>/rt/scripts-3/blobs/<ab>/<hash>           a content
//                        keys/<key>/<c>-<hash>.zst   an entry, named after what it depends on and its own bytes
//                        scripts/<id>.json           what was last found out about a script
//                        hashes/<id>, known/<id>     the memory of hashes, and of what was read of this
//                        there/<id>                  that of what a server has which executes scripts
//                        recalled/<id>               that of whole runs
//                        presence/<place>-<id>       who runs a script there now
//                        secret                      the key of variables' hashes
//
// Contract: everything appears by a rename, so that several rt at once, a full disk or a kill leave nothing half. What is read
// is compared with its name first: a damaged file is none, and is removed. The directory is this user's alone. When there
// is more than `LARGEST`, what was used longest ago goes. Other users can neither write to the directory nor exchange it.
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
import { basename, dirname, isAbsolute, join, sep } from "node:path";
import { host } from "../../../platform/processes/process.ts";
import { makeOwnDirectory } from "../../../platform/files/path-ownership.ts";
import { makePrivate } from "../../../platform/files/private-file.ts";
import { blobHashesOf, type StoredEntry } from "../entry/entry.ts";
import { hashBytes, hashFile, HEX } from "./file-hash-cache.ts";
import { entryIdentity, parseEntry } from "../entry/stored-entry.ts";
import { filesIn, sizeOf, touch } from "./lru-files.ts";
import { FORMAT } from "../key/cache-key.ts";
import { ConcurrentRunDetector, sweep } from "../restore/concurrent-run-detector.ts";

/** Bytes. */
export const MAX_STORE_SIZE = 5 * 1024 ** 3;
/** The most entries of one key. A run may have two: clean-start.ts. */
const MAX_ENTRIES_PER_KEY = 16;
/** Milliseconds. A content without an entry may be one that another rt is about to name. */
const GRACE = 10 * 60_000;
const EVICTION_INTERVAL = 10 * 60_000;

/** rt's own, below the user's directory for such things; undefined where nothing says which that is. */
export function cacheDirectory(): string | undefined {
  const named = host.originalVariable("XDG_CACHE_HOME") ?? "";
  const home = host.originalVariable("HOME") ?? "";
  if (isAbsolute(named)) return join(named, "rt");
  if (isAbsolute(home)) return join(home, ".cache", "rt");
  // Of Windows.
  const local = host.originalVariable("LOCALAPPDATA") ?? "";
  return isAbsolute(local) ? join(local, "rt", "cache") : undefined;
}

/** Undefined where nothing says which directory it is. */
export function storeDirectory(): string | undefined {
  const directory = cacheDirectory();
  return directory && join(directory, `scripts-${FORMAT}`);
}

/** What is remembered, for a project, for all of them, for a server, or for a run. */
type StoreArea = "hashes" | "known" | "there" | "recalled";

export class CacheStore {
  readonly directory: string;
  #secret: Uint8Array | undefined;

  /** Throws an Error with a sentence, or the system's. */
  constructor(directory: string) {
    this.directory = join(makeOwnDirectory(dirname(directory)), basename(directory));
    makePrivate(this.directory);
    for (const name of ["blobs", "keys", "scripts", "hashes", "known", "there", "presence", "drafts"])
      makePrivate(join(this.directory, name));
  }

  /** Of what is no digest, one at which nothing is: files are removed by these. */
  blobPath(hash: string): string {
    const name = /^[\da-f]{64}$/.test(hash) ? hash : "none";
    return join(this.directory, "blobs", name.slice(0, 2), name);
  }

  /** A secret of this store's own, so that hashes of variables say nothing. */
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

  /** The content of a file that stays as it is; its hash. */
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

  /** Null where it is not there, or damaged. */
  readBlob(hash: string): Uint8Array | null {
    const path = this.blobPath(hash);
    const bytes = read(path);
    if (bytes && hashBytes(bytes) === hash) return bytes;
    rmSync(path, { force: true });
    return null;
  }

  /** Whether a content is there and whole. */
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
    // Of the same conditions one is enough, unless the places differ in which they hold.
    const conditions = hashBytes(entryIdentity(entry));
    for (const name of listNames(directory))
      if (name.startsWith(conditions)) rmSync(join(directory, name), { force: true });
    this.#put(join(directory, `${conditions}-${hashBytes(bytes)}.zst`), bytes);
    for (const { path } of this.#entryFiles(key).slice(MAX_ENTRIES_PER_KEY)) rmSync(path, { force: true });
  }

  /** @param script what it is called and where it runs */
  announce(script: readonly string[]): ConcurrentRunDetector {
    return new ConcurrentRunDetector(join(this.directory, "presence"), script, this.#draft());
  }

  keyDirectory(key: string): string {
    return join(this.directory, "keys", key);
  }

  /** The newest first. @param onRead called before each file is read */
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
      return { path, hash: hashIn(name), used: timeOf(path) };
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

  /** Bytes; 0 where there is none. */
  sizeOfText(kind: StoreArea, id: string): number {
    return statSync(join(this.directory, kind, id), { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Null where it is not there, or not to the last byte what was written. */
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

  /** Ids of scripts that something was found out about. */
  scripts(): string[] {
    return listNames(join(this.directory, "scripts")).map((name) => name.replace(/\.json$/, ""));
  }

  /** Bytes, and entries. */
  measure(): { size: number; entries: number } {
    const files = filesIn(this.directory);
    const entries = files.filter(({ path }) => path.endsWith(".zst")).length;
    return { size: sizeOf(files), entries };
  }

  /** Once in a while: it looks at every file. */
  maybeEvict(): void {
    const mark = join(this.directory, "shrunk");
    if (Date.now() - timeOf(mark) < EVICTION_INTERVAL) return;
    this.#put(mark, "");
    this.evict();
  }

  /** Removes what was used longest ago until there is no more than so many bytes. */
  evict(limit = MAX_STORE_SIZE, grace = GRACE): void {
    sweep(join(this.directory, "presence"));
    const files = filesIn(this.directory).filter((file) => !this.#removeDraft(file, grace));
    let total = sizeOf(files);
    if (total <= limit) return;
    const entries = files.filter(({ path }) => path.endsWith(".zst")).sort((a, b) => a.used - b.used);
    const blobs = new Map(
      files
        .filter(({ path }) => path.includes(`${sep}blobs${sep}`))
        .map((each) => [each.path.slice(-64), each]),
    );
    const uses = new Map<string, number>();
    const named = new Map<string, string[]>();
    for (const { path } of entries) {
      const hashes = referencedBlobs(parseEntry(read(path), hashIn(path)));
      named.set(path, hashes);
      for (const hash of hashes) uses.set(hash, (uses.get(hash) ?? 0) + 1);
    }
    const drop = (hash: string) => {
      const blob = blobs.get(hash);
      if (!blob || Date.now() - blob.used < grace) return;
      rmSync(blob.path, { force: true });
      total -= blob.size;
    };
    for (const hash of blobs.keys()) if (!uses.has(hash)) drop(hash);
    for (const { path, size } of entries) {
      if (total <= limit) return;
      rmSync(path, { force: true });
      total -= size;
      for (const hash of named.get(path)!) {
        const remaining = uses.get(hash)! - 1;
        uses.set(hash, remaining);
        if (remaining === 0) drop(hash);
      }
    }
  }

  /** What an rt that was killed had begun. */
  #removeDraft({ path, used }: { path: string; used: number }, grace: number): boolean {
    if (!path.startsWith(join(this.directory, "drafts")) || Date.now() - used < grace) return false;
    rmSync(path, { force: true });
    return true;
  }

  /** Of nobody else: in containers that share the directory all have the same process number. */
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
      // Windows exchanges no file that somebody reads: another rt has put the same there meanwhile.
      if (!isThere()) throw error;
    }
  }
}

/** Of several rt at once the first one's stays, as the others may have read it. */
function linkFirst(draft: string, path: string): void {
  try {
    linkSync(draft, path);
  } catch {
    // Not every file system has hard links.
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

/** Of the file of an entry, that of its bytes. */
function hashIn(name: string): string {
  return name.slice(-HEX - ".zst".length, -".zst".length);
}

function referencedBlobs(entry: StoredEntry | null): string[] {
  return entry ? blobHashesOf(entry) : [];
}
