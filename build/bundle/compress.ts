// Compresses embedded texts, memoized: a build of many targets compresses most of them once.
const known = new Map<string, Uint8Array<ArrayBuffer>>();

export function compress(text: string): Uint8Array<ArrayBuffer> {
  const packed = known.get(text) ?? new Uint8Array(Bun.zstdCompressSync(text, { level: 19 }));
  known.set(text, packed);
  return packed;
}
