// Parses stored entries, and compares their identity.
import type { StoredEntry } from "./entry.ts";
import { hashBytes, HEX } from "../store/file-hash-cache.ts";
import { readEntry } from "./entry-schema.ts";

/** Returns a text that is equal for two entries of which one is redundant. */
export function entryIdentity({ conditions, mentioned, programs, user, isColored }: StoredEntry): string {
  return JSON.stringify([conditions, programs?.found, user, mentioned, isColored]);
}

/** Returns null if the digest or the schema does not match. The digest is checked before decompression. */
export function parseEntry(bytes: Uint8Array | null, hash: string): StoredEntry | null {
  if (!bytes || hashBytes(bytes) !== hash) return null;
  try {
    return readEntry(JSON.parse(Bun.zstdDecompressSync(bytes).toString()));
  } catch {
    return null;
  }
}

/** Returns the content hash in an entry's file name. */
export function hashInName(name: string): string {
  return name.slice(-HEX - ".zst".length, -".zst".length);
}
