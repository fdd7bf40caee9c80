// Caches keyed hashers (LRU), because creating one costs more than a whole token. Callers copy a hasher and never update it.
//
// Invariants:
// - The cache is bounded by the number of keys and the length of a secret: a server may have a secret per tenant.
//
// Non-obvious: secrets are compared with `===`, not in constant time. Both sides come from the program, not from a client.

interface HasherEntry {
  algorithm: Bun.SupportedCryptoAlgorithms;
  secret: string;
  hasher: Bun.CryptoHasher;
}

export const MAX_KEYS = 16;
/** Characters; hashers of longer secrets are not cached. */
export const MAX_CACHED_SECRET_LENGTH = 1024;

/** Most recently used first. */
const entries: HasherEntry[] = [];

export function openKeyedHasher(algorithm: Bun.SupportedCryptoAlgorithms, secret: string): Bun.CryptoHasher {
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index]!;
    if (entry.secret !== secret || entry.algorithm !== algorithm) continue;
    if (index > 0) {
      entries.copyWithin(1, 0, index);
      entries[0] = entry;
    }
    return entry.hasher;
  }
  const hasher = new Bun.CryptoHasher(algorithm, secret);
  if (secret.length <= MAX_CACHED_SECRET_LENGTH) {
    if (entries.length === MAX_KEYS) entries.pop();
    entries.unshift({ algorithm, secret, hasher });
  }
  return hasher;
}
