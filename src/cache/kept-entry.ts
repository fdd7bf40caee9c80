// Entries as they are kept: read from bytes that nobody else should have written, and told apart.
import type { Condition, KeptEntry, Output } from "./entry.ts";
import { hashBytes } from "./hashes.ts";
import { isKeptPath } from "./place.ts";

/** What is the same for two entries of which one is enough. */
export function identify({ conditions, mentioned, root }: KeptEntry): string {
  return JSON.stringify([conditions, mentioned, mentioned.length > 0 && root]);
}

/** By its digest first: what was written as a whole is what was meant. */
export function parseEntry(bytes: Uint8Array | null, hash: string): KeptEntry | null {
  if (!bytes || hashBytes(bytes) !== hash) return null;
  try {
    return readEntry(JSON.parse(Bun.zstdDecompressSync(bytes).toString()));
  } catch {
    return null;
  }
}

/** What JSON has, if it is an entry. */
export function readEntry(value: unknown): KeptEntry | null {
  try {
    const entry = value as KeptEntry;
    const seen = (entry.conditions as Condition[]).map(([, path]) => path);
    const made = (entry.outputs as Output[]).map(({ path }) => path);
    const isWhole =
      seen.every((path) => isKeptPath(path, false)) && made.every((path) => isKeptPath(path, true));
    return isWhole && typeof entry.root === "string" && Array.isArray(entry.mentioned) ? entry : null;
  } catch {
    return null;
  }
}
