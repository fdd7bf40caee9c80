// Caches content hashes of files by stat fingerprint, for cached scripts and remote execution.
//
// Invariants:
// - The fingerprint is compared before and after the content is read, so a hash belongs to its fingerprint.
// - Hashes of files with a racy timestamp are not stored: a second write could leave the same fingerprint.
// - One hash per inode is stored, up to a limit; the oldest are dropped.
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { isRelinked } from "../../../platform/files/path-state.ts";
import type { StatPath, PathState } from "../../../platform/tracing/contract/tracing.ts";

type HashedFileState = Extract<PathState, { kind: "file" }>;

const CHUNK = 1 << 20;

/** Files of the project, and files that all projects share. A part is loaded when its first file is looked up. */
export type Part = "inside" | "outside";

export class FileHashCache {
  readonly #stat: StatPath;
  readonly #isInside: (path: string) => boolean;
  readonly #read: (part: Part) => string | null;
  /** By device and inode. */
  readonly #cached: Partial<Record<Part, Map<string, CachedHash>>> = {};
  /** Cost of recomputing the unsaved hashes, in small files. */
  readonly #unsavedCost: Record<Part, number> = { inside: 0, outside: 0 };

  /** @param read returns the last result of `takeText` */
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

  /** Returns null if the file changed or cannot be read. */
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

  /** Returns undefined if the hash is not cached. */
  find(path: string, { stamp }: HashedFileState): string | undefined {
    const cached = this.#cachedIn(this.#partOf(path)).get(deviceAndInode(stamp));
    return cached?.stamp === stamp ? cached.hash : undefined;
  }

  /** Stores the hash of a file that was just read. @returns false if the file changed since */
  note(path: string, state: HashedFileState, hash: string): boolean {
    const now = this.#stat(path);
    if (now.kind !== "file" || (now.stamp !== state.stamp && !isRelinked(state, now))) return false;
    const { stamp, size } = now;
    if (now.isFresh) return true;
    const part = this.#partOf(path);
    const cached = this.#cachedIn(part);
    cached.delete(deviceAndInode(stamp)); // moves it to the end
    cached.set(deviceAndInode(stamp), { stamp, hash });
    this.#unsavedCost[part] += 1 + size / SMALL_FILE;
    return true;
  }

  /** Discards all hashes, because one of them was wrong. */
  forget(): void {
    for (const part of ["inside", "outside"] as const) {
      this.#cached[part] = new Map<string, CachedHash>();
      this.#unsavedCost[part] = Number.POSITIVE_INFINITY;
    }
  }

  /** Returns null if writing all hashes would cost more than recomputing the unsaved ones. */
  takeText(part: Part): string | null {
    const cached = this.#cached[part];
    if (!cached || this.#unsavedCost[part] === 0 || this.#unsavedCost[part] * WRITES_PER_HASH < cached.size)
      return null;
    this.#unsavedCost[part] = 0;
    // The newest hashes are at the end.
    const lines = [...cached.values()].slice(-MAX_STORED_HASHES);
    return lines.map(({ stamp, hash }) => `${stamp} ${hash}\n`).join("");
  }
}

interface CachedHash {
  readonly stamp: string;
  readonly hash: string;
}

const MAX_STORED_HASHES = 50_000;
/** Bytes that are hashed in the time of one open(). */
const SMALL_FILE = 16 << 10;
/** Hashes that are written in the time that one small file takes to be read and hashed. */
const WRITES_PER_HASH = 50;
/** Characters of a hash. */
export const HEX = 64;

/** Returns device and inode, the beginning of a stat fingerprint. */
function deviceAndInode(stamp: string): string {
  return stamp.slice(0, stamp.indexOf(":", stamp.indexOf(":") + 1));
}

/** @param text result of `takeText` */
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

/** Hashes a file in chunks, so that the event loop stays responsive. */
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
