// The bytes of a CSRF token: written, signed, read and checked here; what the options mean is csrf.ts's.
//
//    0         8                24          32                      64, 80 or 96
//    ├─────────┼────────────────┼───────────┼───────────────────────────────┤
//    │ issued  │ nonce          │ expiresIn │ HMAC(secret, bytes 0-31 + id) │
//    └─────────┴────────────────┴───────────┴───────────────────────────────┘
//      u64 ms    random           u64 ms      `id`: the session id in UTF-8, nothing when there is none
//
// Both integers are big-endian. This is the layout of Bun.CSRF, so tokens verify across the two. The
// session id follows 32 bytes of fixed length, hence no id can imitate another header.
//
// One token has one spelling: what was decoded must encode to the same text again. That refuses padding,
// white space, the other base64 alphabet, capital hex and stray trailing bits in one comparison, of two
// things the sender knows; only the comparison of the HMAC has to take constant time.
//
// All work happens in a few buffers that each thread allocates at its first token. Nothing here awaits,
// so a call owns them until it returns. `crypto` and `Buffer` are bound when the module loads: test
// environments replace globals.
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
const LONGEST_MAC = 64;
const POOL_BYTES = 4096;
const WORD = 2 ** 32;

const { crypto, Buffer } = globalThis;

function allocate() {
  const token = Buffer.alloc(HEADER_BYTES + LONGEST_MAC);
  const expected = Buffer.alloc(LONGEST_MAC);
  const pool = new DataView(new ArrayBuffer(POOL_BYTES));
  return {
    token,
    fields: new DataView(token.buffer, token.byteOffset, HEADER_BYTES),
    header: token.subarray(0, HEADER_BYTES),
    signature: token.subarray(HEADER_BYTES),
    expected,
    // Views of each length of HMAC, for a comparison that demands equal lengths.
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
 * A base64 token of 96 bytes has no padding and in one of 60 cases none of the characters in which the
 * two alphabets differ; it would then be valid in both. Another nonce keeps `encoding` unmistakable.
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
    if (length < HEADER_BYTES + LONGEST_MAC || encoding === "hex" || /[-_+/]/.test(text)) return text;
  }
}

/**
 * Decodes `text` and keeps the token in this module for the functions below. False when it is not the
 * one spelling of a token of this length.
 */
export function decodeToken(text: string, algorithm: CSRFAlgorithm, encoding: CSRFEncoding): boolean {
  const { token } = (allocated ??= allocate());
  const length = HEADER_BYTES + MAC_BYTES[algorithm];
  // A megabyte in the field must not cost a megabyte's work.
  if (text.length !== TEXT_LENGTH[encoding](length)) return false;
  return token.write(text, encoding) === length && token.toString(encoding, 0, length) === text;
}

/** Whether one of the secrets signed the decoded token; every secret is tried, whichever matches. */
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

/** When the decoded token was issued, in milliseconds since 1970. Inexact above 2^53. */
export function issuedAt(): number {
  return readInteger(allocated!.fields, 0);
}

/** For how many milliseconds the decoded token is valid; 0 is for ever. Inexact above 2^53. */
export function expiresIn(): number {
  return readInteger(allocated!.fields, EXPIRES_IN_OFFSET);
}

function sign(hasher: Bun.CryptoHasher, sessionId: string | undefined, into: Uint8Array): void {
  // A keyed hasher cannot be reset after its digest; the copy is the one object a token costs.
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
