// Compresses and decompresses blobs with zstd.
//
// Invariants: pure. Decompression is limited to the size in the digest, because a server may send a decompression
// bomb. The caller verifies the hash.
import { constants, zstdCompress, zstdDecompress } from "node:zlib";
import { promisify } from "node:util";
import type { Digest } from "../digest.ts";
import { RemoteError } from "./retry.ts";

/** Bytes. Compressing less saves nothing, because of the frame. */
const MIN_SIZE = 512;
/** Blobs up to this size are compressed as a whole, in memory. */
export const MAX_COMPRESSED_SIZE = 64 << 20;
const FAST = { params: { [constants.ZSTD_c_compressionLevel]: 3 } };
const zstd = promisify(zstdCompress);
const unzstd = promisify(zstdDecompress);

/** Returns undefined if compression does not reduce the size. */
export async function compress(bytes: Uint8Array): Promise<Uint8Array | undefined> {
  if (bytes.length < MIN_SIZE) return undefined;
  const compressed = await zstd(bytes, FAST);
  return compressed.length < bytes.length ? compressed : undefined;
}

/** @throws RemoteError for invalid data, or more bytes than the size in the digest */
export async function decompress(bytes: Uint8Array, { hash, size }: Digest): Promise<Uint8Array> {
  try {
    return await unzstd(bytes, { maxOutputLength: size });
  } catch {
    throw new RemoteError(`it sent other content than ${hash}`, undefined, true);
  }
}

/** Upper limit of the compressed size, for any number of frames. */
export function maxCompressedSize(size: number): number {
  return size + (size >> 6) + 1024;
}
