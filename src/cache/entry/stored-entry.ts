// Entries as they are kept: read from bytes that nobody else should have written, and told apart.
import type { StoredEntry } from "./entry.ts";
import { hashBytes } from "../store/file-hash-cache.ts";
import { readEntry } from "./entry-schema.ts";

/** What is the same for two entries of which one is enough. */
export function entryIdentity({ conditions, mentioned, root }: StoredEntry): string {
  return JSON.stringify([conditions, mentioned, mentioned.length > 0 && root]);
}

/** By its digest first: what was written as a whole is what was meant. */
export function parseEntry(bytes: Uint8Array | null, hash: string): StoredEntry | null {
  if (!bytes || hashBytes(bytes) !== hash) return null;
  try {
    return readEntry(JSON.parse(Bun.zstdDecompressSync(bytes).toString()));
  } catch {
    return null;
  }
}
