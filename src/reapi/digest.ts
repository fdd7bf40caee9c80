// Digests of the Remote Execution API: SHA-256 and size of a blob.
//
// Invariants: digests from a server are validated before use.
import type { Digest as Message } from "./messages/remote_execution.ts";
import type { Codec } from "./grpc/methods.ts";

export interface Digest {
  /** Lower-case hex. */
  readonly hash: string;
  /** Bytes. */
  readonly size: number;
}

export const EMPTY = digestOf(new Uint8Array());

export function digestOf(bytes: Uint8Array): Digest {
  return { hash: Bun.CryptoHasher.hash("sha256", bytes, "hex"), size: bytes.length };
}

export function isOf({ hash, size }: Digest, bytes: Uint8Array): boolean {
  return bytes.length === size && digestOf(bytes).hash === hash;
}

export function toMessage({ hash, size }: Digest): Message {
  return { hash, sizeBytes: BigInt(size) };
}

/** Undefined for an invalid digest. */
export function fromMessage(message: Message | undefined): Digest | undefined {
  if (!message || !/^[\da-f]{64}$/.test(message.hash)) return undefined;
  const size = Number(message.sizeBytes);
  return Number.isSafeInteger(size) && size >= 0 ? { hash: message.hash, size } : undefined;
}

/** A message encoded as a blob. */
export interface Encoded {
  readonly digest: Digest;
  readonly bytes: Uint8Array;
}

export function encode<Type>(codec: Codec<Type>, message: Type): Encoded {
  const bytes = codec.encode(message).finish();
  return { digest: digestOf(bytes), bytes };
}
