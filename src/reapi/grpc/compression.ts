// Content on its way, compressed with zstd as the Remote Execution API has it.
//
// Contract: pure. What comes is never more than the digest says, however little of it came: a server may lie. Its content is
// for the caller to check.
import { constants, zstdCompress, zstdDecompress } from "node:zlib";
import { promisify } from "node:util";
import type { Digest } from "../digest.ts";
import { RemoteError } from "./retry.ts";

/** Bytes: a frame around less saves nothing. */
const LEAST = 512;
/** Of what is compressed as a whole, in memory. */
export const MOST_COMPRESSED = 64 << 20;
const FAST = { params: { [constants.ZSTD_c_compressionLevel]: 3 } };
const pack = promisify(zstdCompress);
const unpack = promisify(zstdDecompress);

/** Undefined where nothing is won by it. */
export async function compress(bytes: Uint8Array): Promise<Uint8Array | undefined> {
  if (bytes.length < LEAST) return undefined;
  const packed = await pack(bytes, FAST);
  return packed.length < bytes.length ? packed : undefined;
}

/** Throws RemoteError for what is none, or more. */
export async function decompress(bytes: Uint8Array, { hash, size }: Digest): Promise<Uint8Array> {
  try {
    return await unpack(bytes, { maxOutputLength: size });
  } catch {
    throw new RemoteError(`what it sends is not ${hash}`, undefined, true);
  }
}

/** Bytes that so many become at most, in however many frames a server makes of them. */
export function largestPacked(size: number): number {
  return size + (size >> 6) + 1024;
}
