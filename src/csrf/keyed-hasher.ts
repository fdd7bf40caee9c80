// Hashers with the key already inside. Preparing one costs more than a whole token, so the last few are
// kept; callers copy them and never update the original.
//
// The cache is bounded twice: by the number of keys, so that a server with a secret per tenant does not
// collect them all, and by the length of a secret. The least recently used entry leaves. Lookup compares
// secrets with `===`; both sides are the program's own, so its timing tells a client nothing.

interface HasherEntry {
  algorithm: Bun.SupportedCryptoAlgorithms;
  secret: string;
  hasher: Bun.CryptoHasher;
}

export const MOST_KEYS = 16;
export const LONGEST_KEPT_SECRET = 1024;

/** The most recently used first. */
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
  if (secret.length <= LONGEST_KEPT_SECRET) {
    if (entries.length === MOST_KEYS) entries.pop();
    entries.unshift({ algorithm, secret, hasher });
  }
  return hasher;
}
