// What a served cache has, on the disk: contents by their digests, and for each scope the names under which they were given.
//
//   <directory>/blobs/<ab>/<sha256>      a content
//               names/<space>/<name>     JSON: which content, and what was said of it
//               drafts                   what is being received
//
// Contract: as src/cache/store.ts: everything appears by a rename, and what is read is compared with its digest first. A name
// is only found in its own space, whatever contents others have. What is used longest ago goes when there is more than
// the limit.
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
import { makePrivate } from "../../../platform/private-file.ts";
import { hashBytes, hashFile } from "../hashes.ts";
import { filesIn, sizeOf, touch } from "../kept-files.ts";

/** Who sees a name: a scope ("" is the main one), the team and the kind of client. */
export interface Space {
  readonly scope: string;
  readonly team: string;
  readonly kind: string;
}

export interface Item {
  /** Of the content. */
  readonly hash: string;
  readonly size: number;
  /** As the client said it; "" where it did not. */
  readonly duration: string;
  readonly tag: string;
}

/** Received, and not yet under a name. */
export interface Draft {
  readonly path: string;
  readonly hash: string;
  readonly size: number;
}

/** What is left when something has to go. */
const LEFT = 0.9;
/** Bytes: a name takes a block of the disk, however little it says, and contents of nothing may have any number of them. */
const NAME_SIZE = 4096;
/** Milliseconds. A draft that old is nobody's any more. */
const ABANDONED = 3_600_000;

export class Shelf {
  readonly directory: string;
  readonly #limit: number;
  #size: number;

  /** @param limit bytes. Throws an Error with a sentence, or the system's */
  constructor(directory: string, limit: number) {
    this.directory = directory;
    this.#limit = limit;
    mkdirSync(dirname(directory), { recursive: true, mode: 0o700 });
    makePrivate(directory);
    for (const name of ["blobs", "names", "drafts"]) makePrivate(join(directory, name));
    for (const { path, used } of filesIn(join(directory, "drafts")))
      if (Date.now() - used > ABANDONED) rmSync(path, { force: true });
    this.#size = sizeOf(this.#blobs()) + this.#names().length * NAME_SIZE;
  }

  /** Bytes. */
  get size(): number {
    return this.#size;
  }

  find(space: Space, name: string): Item | undefined {
    try {
      return JSON.parse(readFileSync(this.#namePath(space, name), "utf8")) as Item;
    } catch {
      return undefined;
    }
  }

  /**
   * Whether its content is there, as far as that can be told without reading it. Who asks does not send it then, and goes on
   * needing it: that is a use, too.
   */
  isThere(space: Space, name: string, { hash, size }: Item): boolean {
    if (!hasSize(this.#blobPath(hash), size)) return false;
    touch(this.#namePath(space, name));
    return true;
  }

  /** The file of its content; undefined where that is not whole, and then it is nobody's any more. */
  async open(space: Space, name: string, { hash }: Item): Promise<string | undefined> {
    const path = this.#blobPath(hash);
    const isWhole = await hashFile(path).then(
      (found) => found === hash,
      () => false,
    );
    if (isWhole) {
      touch(this.#namePath(space, name));
      return path;
    }
    rmSync(path, { force: true });
    rmSync(this.#namePath(space, name), { force: true });
    return undefined;
  }

  /** Undefined where it is longer than it may be; throws where it breaks off, or the disk is full. */
  async receive(body: ReadableStream<Uint8Array> | null, largest: number): Promise<Draft | undefined> {
    const path = join(this.directory, "drafts", crypto.randomUUID());
    const hasher = new Bun.CryptoHasher("sha256");
    const file = openSync(path, "wx", 0o600);
    let size = 0;
    let isKept = false;
    try {
      for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
        size += chunk.length;
        if (size > largest) return undefined;
        hasher.update(chunk);
        for (let at = 0; at < chunk.length;) at += writeSync(file, chunk, at);
      }
      isKept = true;
      return { path, hash: hasher.digest("hex"), size };
    } finally {
      closeSync(file);
      if (!isKept) rmSync(path, { force: true });
    }
  }

  drop({ path }: Draft): void {
    rmSync(path, { force: true });
  }

  put(space: Space, name: string, draft: Draft, said: Pick<Item, "duration" | "tag">): void {
    const { hash, size } = draft;
    try {
      const path = this.#blobPath(hash);
      if (hasSize(path, size)) touch(path);
      else {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        renameSync(draft.path, path);
        this.#size += size;
      }
      const item: Item = { hash, size, ...said };
      const named = `${draft.path}.name`;
      writeFileSync(named, JSON.stringify(item), { mode: 0o600 });
      const place = this.#namePath(space, name);
      mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
      if (!existsSync(place)) this.#size += NAME_SIZE;
      renameSync(named, place);
    } finally {
      this.drop(draft);
      rmSync(`${draft.path}.name`, { force: true });
    }
    if (this.#size > this.#limit) this.#shrinkTo(this.#limit * LEFT);
  }

  /** The disk has less room than the limit says. How much goes is nothing that a client says. */
  makeRoom(): void {
    this.#shrinkTo(this.#size * LEFT);
  }

  /** By names, the one that was used longest ago first; and the contents that no name is left of. */
  #shrinkTo(most: number): void {
    const blobs = new Map(this.#blobs().map((each) => [each.path.slice(-64), each]));
    const names = this.#names().sort((a, b) => a.used - b.used);
    const meant = names.map(({ path }) => ({ path, hash: hashIn(path) }));
    const uses = new Map<string, number>();
    for (const { hash } of meant) uses.set(hash, (uses.get(hash) ?? 0) + 1);
    let size = sizeOf([...blobs.values()]) + names.length * NAME_SIZE;
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
  #namePath({ scope, team, kind }: Space, name: string): string {
    const space = hashBytes(JSON.stringify([scope, team, kind]));
    return join(this.directory, "names", space, hashBytes(name));
  }
}

function hasSize(path: string, size: number): boolean {
  return statSync(path, { throwIfNoEntry: false })?.size === size;
}

function hashIn(path: string): string {
  try {
    return (JSON.parse(readFileSync(path, "utf8")) as Item).hash;
  } catch {
    return "";
  }
}
