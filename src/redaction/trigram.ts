// Hashes trigrams for the tables of the matcher.

/** Returns a hash below 65,536 of three bytes. Collisions are possible. */
export function trigramHash(first: number, second: number, third: number): number {
  return Math.imul((first << 16) | (second << 8) | third, FACTOR) >>> 16;
}

const FACTOR = 0x9e3779b1;
