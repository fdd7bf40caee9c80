// Encodes, signs, decodes and verifies the bytes of a CSRF token; csrf.ts interprets the options. The layout is that of Bun.CSRF:
//
//    0         8                24          32                      64, 80 or 96
//    ├─────────┼────────────────┼───────────┼───────────────────────────────┤
//    │ issued  │ nonce          │ expiresIn │ HMAC(secret, bytes 0-31 + id) │
//    └─────────┴────────────────┴───────────┴───────────────────────────────┘
//      u64 ms    random           u64 ms      `id`: the session ID in UTF-8; integers are big-endian
//
// Non-obvious: a token has one canonical text, which is checked by encoding it again. This rejects padding, white space, the other
// base64 alphabet, upper-case hex and trailing bits. Only the HMAC comparison has to be constant time.
import { openKeyedHasher } from "./keyed-hasher.ts";

/** Bytes of the HMAC, by algorithm. */
export const MAC_BYTES = {
  sha256: 32,
  sha384: 48,
  sha512: 64,
  "sha512-256": 32,
  blake2b256: 32,
  blake2b512: 64,
} as const;

export type CSRFAlgorithm = keyof typeof MAC_BYTES;

/** Characters of a token of `bytes` bytes, by encoding. */
export const TEXT_LENGTH = {
  base64url: (bytes: number) => Math.ceil((bytes * 4) / 3),
  base64: (bytes: number) => Math.ceil(bytes / 3) * 4,
  hex: (bytes: number) => bytes * 2,
} as const;

export type CSRFEncoding = keyof typeof TEXT_LENGTH;

const HEADER_BYTES = 32;
const NONCE_OFFSET = 8;
const NONCE_BYTES = 16;
const EXPIRES_IN_OFFSET = 24;
const MAX_MAC_BYTES = 64;
const POOL_BYTES = 4096;
const WORD = 2 ** 32;

// Bound at load time, because test environments replace globals.
const { crypto, Buffer } = globalThis;

/** Allocates the buffers of this thread. The functions are synchronous, so a call uses them exclusively. */
function allocate() {
  const token = Buffer.alloc(HEADER_BYTES + MAX_MAC_BYTES);
  const expected = Buffer.alloc(MAX_MAC_BYTES);
  const pool = new DataView(new ArrayBuffer(POOL_BYTES));
  return {
    token,
    fields: new DataView(token.buffer, token.byteOffset, HEADER_BYTES),
    header: token.subarray(0, HEADER_BYTES),
    signature: token.subarray(HEADER_BYTES),
    expected,
    // Views for each HMAC length, because the comparison needs equal lengths.
    signatures: views((bytes) => token.subarray(HEADER_BYTES, HEADER_BYTES + bytes)),
    expectations: views((bytes) => expected.subarray(0, bytes)),
    pool,
    poolOffset: POOL_BYTES,
  };
}

function views(view: (bytes: number) => Uint8Array): Record<32 | 48 | 64, Uint8Array> {
  return { 32: view(32), 48: view(48), 64: view(64) };
}

let allocated: ReturnType<typeof allocate> | undefined;

/**
 * Writes, signs and encodes a token. Times are whole milliseconds from 0 to 2^53 - 1.
 *
 * A base64 token of 96 bytes has no padding. In one of 60 cases it has none of the characters in which the two alphabets
 * differ, and would be valid in both. A new nonce avoids that.
 */
export function encodeToken(
  secret: string,
  algorithm: CSRFAlgorithm,
  encoding: CSRFEncoding,
  issuedAt: number,
  expiresIn: number,
  sessionId: string | undefined,
): string {
  const memory = (allocated ??= allocate());
  const length = HEADER_BYTES + MAC_BYTES[algorithm];
  writeInteger(memory.fields, 0, issuedAt);
  writeInteger(memory.fields, EXPIRES_IN_OFFSET, expiresIn);
  for (;;) {
    writeNonce();
    sign(openKeyedHasher(algorithm, secret), sessionId, memory.signature);
    const text = memory.token.toString(encoding, 0, length);
    if (length < HEADER_BYTES + MAX_MAC_BYTES || encoding === "hex" || /[-_+/]/.test(text)) return text;
  }
}

/**
 * Decodes `text` into the buffers that the functions below use. Returns false if it is not the canonical text of a token of
 * this length.
 */
export function decodeToken(text: string, algorithm: CSRFAlgorithm, encoding: CSRFEncoding): boolean {
  const { token } = (allocated ??= allocate());
  const length = HEADER_BYTES + MAC_BYTES[algorithm];
  // Reject a wrong length first: a long input must not cost time.
  if (text.length !== TEXT_LENGTH[encoding](length)) return false;
  return token.write(text, encoding) === length && token.toString(encoding, 0, length) === text;
}

/** Returns whether one of the secrets signed the decoded token. All secrets are tried, so that the time is constant. */
export function isSignedBy(
  secrets: string | readonly string[],
  algorithm: CSRFAlgorithm,
  sessionId: string | undefined,
): boolean {
  const memory = allocated!;
  const bytes = MAC_BYTES[algorithm];
  const actual = memory.signatures[bytes];
  const expected = memory.expectations[bytes];
  if (typeof secrets === "string") {
    sign(openKeyedHasher(algorithm, secrets), sessionId, memory.expected);
    return crypto.timingSafeEqual(actual, expected);
  }
  let matches = 0;
  for (const secret of secrets) {
    sign(openKeyedHasher(algorithm, secret), sessionId, memory.expected);
    matches |= Number(crypto.timingSafeEqual(actual, expected));
  }
  return matches !== 0;
}

/** Returns when the decoded token was issued, in milliseconds since 1970. Inexact above 2^53. */
export function issuedAt(): number {
  return readInteger(allocated!.fields, 0);
}

/** Returns the validity of the decoded token in milliseconds; 0 means unlimited. Inexact above 2^53. */
export function expiresIn(): number {
  return readInteger(allocated!.fields, EXPIRES_IN_OFFSET);
}

function sign(hasher: Bun.CryptoHasher, sessionId: string | undefined, into: Uint8Array): void {
  // A keyed hasher cannot be reset after its digest, so each token allocates one copy.
  const keyed = hasher.copy().update(allocated!.header);
  if (sessionId !== undefined) keyed.update(sessionId);
  keyed.digest(into);
}

function writeNonce(): void {
  const memory = allocated!;
  const { fields, pool } = memory;
  if (memory.poolOffset === POOL_BYTES) {
    crypto.getRandomValues(new Uint8Array(pool.buffer));
    memory.poolOffset = 0;
  }
  for (let offset = 0; offset < NONCE_BYTES; offset += 4) {
    fields.setUint32(NONCE_OFFSET + offset, pool.getUint32(memory.poolOffset + offset));
  }
  memory.poolOffset += NONCE_BYTES;
}

function writeInteger(fields: DataView, offset: number, value: number): void {
  const high = Math.floor(value / WORD);
  fields.setUint32(offset, high);
  fields.setUint32(offset + 4, value - high * WORD);
}

function readInteger(fields: DataView, offset: number): number {
  return fields.getUint32(offset) * WORD + fields.getUint32(offset + 4);
}
