// Packs and unpacks the artifacts of a shared cache.
//
// - Index of a key: zstd of JSON, the entries under the key, newest first.
// - Contents of an entry: zstd of a tar with blobs/<sha256> for each blob. Only backends without a content-addressed store use it.
//
// Invariants:
// - Pure. Names in an archive are never used as paths: blobs are selected and verified by digest.
// - An artifact that is too large (decompression bomb), malformed, or has unexpected blobs is null.
import { constants, zstdCompress, zstdDecompressSync } from "node:zlib";
import { promisify } from "node:util";
import { blobHashesOf, type CacheEntry, type StoredEntry } from "../entry/entry.ts";
import { hashBytes } from "../store/file-hash-cache.ts";
import { entryIdentity } from "../entry/stored-entry.ts";
import { readEntry } from "../entry/entry-schema.ts";

/** Version of the artifact format; part of each ID. */
const FORMAT = 1;
const MOST_ENTRIES = 8;
/** Bytes, packed and unpacked. */
export const MAX_INDEX_SIZE = 16 << 20;
const MAX_INDEX_TEXT_SIZE = 128 << 20;
export const MAX_CONTENTS_SIZE = 512 << 20;
/** Bytes of all blobs of one entry. */
export const MAX_TAR_SIZE = 1 << 30;

const BLOCK = 512;
const NAME = /^blobs\/([\da-f]{64})$/;
const pack = promisify(zstdCompress);
const FAST = { params: { [constants.ZSTD_c_compressionLevel]: 3 } };

export function indexId(key: string): string {
  return hashBytes(`rt index ${FORMAT}\0${key}`);
}

export function contentsId(entry: CacheEntry): string {
  return hashBytes(`rt contents ${FORMAT}\0${blobHashesOf(entry).join("\0")}`);
}

export interface PackedIndex {
  readonly bytes: Uint8Array;
  /** Newest first. */
  readonly entries: readonly StoredEntry[];
}

/** Returns the index with one more entry; null if it is too large. */
export async function packIndex(
  entry: StoredEntry,
  others: readonly StoredEntry[],
): Promise<PackedIndex | null> {
  const own = entryIdentity(entry);
  const rest = others.filter((each) => entryIdentity(each) !== own);
  const entries = [entry, ...rest].slice(0, MOST_ENTRIES);
  const packed = await pack(Buffer.from(JSON.stringify({ format: FORMAT, entries })), FAST);
  return packed.length <= MAX_INDEX_SIZE ? { bytes: packed, entries } : null;
}

/** Returns the valid entries; null if the index itself is invalid. */
export function readIndex(bytes: Uint8Array): StoredEntry[] | null {
  try {
    const text = zstdDecompressSync(bytes, { maxOutputLength: MAX_INDEX_TEXT_SIZE }).toString();
    const { format, entries } = JSON.parse(text) as { format: unknown; entries: unknown };
    if (format !== FORMAT || !Array.isArray(entries)) return null;
    return entries.slice(0, MOST_ENTRIES).flatMap((each) => readEntry(each) ?? []);
  } catch {
    return null;
  }
}

/** @param read returns null if a blob is missing */
export async function packContents(
  digests: readonly string[],
  read: (digest: string) => Uint8Array | null,
): Promise<Uint8Array | null> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for (const digest of digests) {
    const bytes = read(digest);
    if (!bytes || (size += bytes.length) > MAX_TAR_SIZE - (digests.length + 1) * 2 * BLOCK) return null;
    parts.push(headerOf(`blobs/${digest}`, bytes.length), bytes, new Uint8Array(paddingOf(bytes.length)));
  }
  const packed = await pack(Buffer.concat([...parts, new Uint8Array(2 * BLOCK)]), FAST);
  return packed.length <= MAX_CONTENTS_SIZE ? packed : null;
}

/** Returns the blobs by digest; null unless they are exactly the requested ones. */
export function readContents(
  bytes: Uint8Array,
  digests: readonly string[],
): ReadonlyMap<string, Uint8Array> | null {
  const wanted = new Set(digests);
  const found = new Map<string, Uint8Array>();
  try {
    const tar = zstdDecompressSync(bytes, { maxOutputLength: MAX_TAR_SIZE });
    for (let at = 0; at + BLOCK <= tar.length;) {
      const header = tar.subarray(at, at + BLOCK);
      if (header.every((byte) => byte === 0)) return found.size === wanted.size ? found : null;
      const [, digest] = NAME.exec(textAt(header, 0, 100)) ?? [];
      const size = Number.parseInt(textAt(header, 124, 12), 8);
      const isFile = header[156] === 0x30;
      if (digest === undefined || !isFile || !(size >= 0) || at + BLOCK + size > tar.length) return null;
      const content = tar.subarray(at + BLOCK, at + BLOCK + size);
      if (!wanted.has(digest) || hashBytes(content) !== digest) return null;
      found.set(digest, content);
      at += BLOCK + size + paddingOf(size);
    }
  } catch {
    // Not an archive, or too large.
  }
  return null;
}

function paddingOf(size: number): number {
  return (BLOCK - (size % BLOCK)) % BLOCK;
}

/** Builds the header of a regular file without an owner. */
function headerOf(name: string, size: number): Uint8Array {
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number) =>
    header.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at, "latin1");
  header.write(name, 0, "latin1");
  octal(0o644, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(0, 136, 12);
  header.write("0", 156, "latin1");
  header.write("ustar\x0000", 257, "latin1");
  header.fill(" ", 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return header;
}

function textAt(bytes: Uint8Array, start: number, length: number): string {
  return new TextDecoder("latin1").decode(bytes.subarray(start, start + length)).replace(/\0.*$/s, "");
}
