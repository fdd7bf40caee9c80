// The hashes of files, remembered by what tells one content from another: device, inode, size and both times. Scripts that are
// cached go by it, and those that run elsewhere (src/remote-execution/workspace-files.ts).
//
// Contract: a hash is of the content that the file had under this stamp: it is looked at again afterwards. What was
// changed a moment ago is not remembered, since a further change might leave the same stamp. Of a file that has changed the
// newest is kept, and of all files so many. Each part is read when one of its files is first asked for.
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import type { StatPath, PathState } from "../../../platform/tracing/contract/tracing.ts";

type HashedFileState = Extract<PathState, { kind: "file" }>;

const CHUNK = 1 << 20;

/** One for the files of a project, and one that all projects share for everything else. */
export type Part = "inside" | "outside";

export class FileHashCache {
  readonly #stat: StatPath;
  readonly #isInside: (path: string) => boolean;
  readonly #read: (part: Part) => string | null;
  /** By the places of files on the disk. */
  readonly #cached: Partial<Record<Part, Map<string, CachedHash>>> = {};
  /** What it would take to hash again what is new, in small files. */
  readonly #unsavedCost: Record<Part, number> = { inside: 0, outside: 0 };

  /** @param read what `takeText` gave */
  constructor(stat: StatPath, isInside: (path: string) => boolean, read: (part: Part) => string | null) {
    this.#stat = stat;
    this.#isInside = isInside;
    this.#read = read;
  }

  #partOf(path: string): Part {
    return this.#isInside(path) ? "inside" : "outside";
  }

  #cachedIn(part: Part): Map<string, CachedHash> {
    return (this.#cached[part] ??= parse(this.#read(part)));
  }

  /** Null where the file is another one by now, or cannot be read. */
  async hash(path: string, state: HashedFileState): Promise<string | null> {
    const cached = this.find(path, state);
    if (cached !== undefined) return cached;
    try {
      const hash = state.size <= CHUNK ? hashBytes(readFileSync(path)) : await hashFile(path);
      return this.note(path, state, hash) ? hash : null;
    } catch {
      return null;
    }
  }

  /** Undefined where it is not remembered. */
  find(path: string, { stamp }: HashedFileState): string | undefined {
    const cached = this.#cachedIn(this.#partOf(path)).get(deviceAndInode(stamp));
    return cached?.stamp === stamp ? cached.hash : undefined;
  }

  /** It was read just now. @returns whether the file is still that one; only then is it remembered */
  note(path: string, { stamp, size }: HashedFileState, hash: string): boolean {
    const now = this.#stat(path);
    if (now.kind !== "file" || now.stamp !== stamp) return false;
    if (now.isFresh) return true;
    const part = this.#partOf(path);
    const cached = this.#cachedIn(part);
    cached.delete(deviceAndInode(stamp)); // so that it is the last
    cached.set(deviceAndInode(stamp), { stamp, hash });
    this.#unsavedCost[part] += 1 + size / SMALL_FILE;
    return true;
  }

  /** Something of it is not true. */
  forget(): void {
    for (const part of ["inside", "outside"] as const) {
      this.#cached[part] = new Map<string, CachedHash>();
      this.#unsavedCost[part] = Number.POSITIVE_INFINITY;
    }
  }

  /** Null where nothing is new, or so little that writing all of it again would take longer. */
  takeText(part: Part): string | null {
    const cached = this.#cached[part];
    if (!cached || this.#unsavedCost[part] === 0 || this.#unsavedCost[part] * WRITES_PER_HASH < cached.size)
      return null;
    this.#unsavedCost[part] = 0;
    // The newest are the last.
    const lines = [...cached.values()].slice(-MAX_STORED_HASHES);
    return lines.map(({ stamp, hash }) => `${stamp} ${hash}\n`).join("");
  }
}

interface CachedHash {
  readonly stamp: string;
  readonly hash: string;
}

const MAX_STORED_HASHES = 50_000;
/** Bytes that are hashed in the time that a file takes to be opened. */
const SMALL_FILE = 16 << 10;
/** How many of them are written while one small file is read and hashed. */
const WRITES_PER_HASH = 50;
/** Characters of a hash. */
export const HEX = 64;

/** Device and inode, which a stamp begins with. */
function deviceAndInode(stamp: string): string {
  return stamp.slice(0, stamp.indexOf(":", stamp.indexOf(":") + 1));
}

/** @param text as `takeText` made it */
function parse(text: string | null): Map<string, CachedHash> {
  const cached = new Map<string, CachedHash>();
  if (text === null) return cached;
  for (
    let start = 0, end = text.indexOf("\n");
    end !== -1;
    start = end + 1, end = text.indexOf("\n", start)
  ) {
    const stamp = text.slice(start, end - HEX - 1);
    cached.set(deviceAndInode(stamp), { stamp, hash: text.slice(end - HEX, end) });
  }
  return cached;
}

export function hashBytes(bytes: string | Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
}

/** In pieces, so that what runs meanwhile is heard. */
export async function hashFile(path: string): Promise<string> {
  const hasher = new Bun.CryptoHasher("sha256");
  const descriptor = openSync(path, "r");
  try {
    const buffer = Buffer.allocUnsafe(CHUNK);
    for (let count = readSync(descriptor, buffer); count > 0; count = readSync(descriptor, buffer)) {
      hasher.update(buffer.subarray(0, count));
      await new Promise((next) => setImmediate(next));
    }
  } finally {
    closeSync(descriptor);
  }
  return hasher.digest("hex");
}
