// Texts that a program carries packed. A build of many targets packs most of them once: they are the same for all of a system.
const known = new Map<string, Uint8Array<ArrayBuffer>>();

export function compress(text: string): Uint8Array<ArrayBuffer> {
  const packed = known.get(text) ?? new Uint8Array(Bun.zstdCompressSync(text, { level: 19 }));
  known.set(text, packed);
  return packed;
}
