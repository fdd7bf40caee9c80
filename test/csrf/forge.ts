// A second implementation of tokens, from the layout in src/csrf/token.ts with plain hashes and RFC 2104. It shares no code with
// the product and can set every field, also to values that `generate` rejects.
import { randomBytes } from "node:crypto";
import type { CSRFAlgorithm } from "../../src/csrf/csrf.ts";
import type { Random } from "../support/random.ts";

export interface Fields {
  secret?: string;
  algorithm?: CSRFAlgorithm;
  issuedAt?: number | bigint;
  nonce?: Uint8Array;
  expiresIn?: number | bigint;
  sessionId?: string;
}

export function forgeToken({
  secret = "a secret",
  algorithm = "sha256",
  issuedAt = Date.now(),
  nonce = randomBytes(16),
  expiresIn = 86_400_000,
  sessionId = "",
}: Fields = {}): Buffer {
  const header = Buffer.alloc(32);
  header.writeBigUInt64BE(BigInt(issuedAt), 0);
  header.set(nonce, 8);
  header.writeBigUInt64BE(BigInt(expiresIn), 24);
  return Buffer.concat([header, hmac(algorithm, secret, Buffer.concat([header, Buffer.from(sessionId)]))]);
}

function hmac(algorithm: CSRFAlgorithm, secret: string, message: Uint8Array): Uint8Array {
  const hash = (...parts: Uint8Array[]) =>
    new Bun.CryptoHasher(algorithm).update(Buffer.concat(parts)).digest();
  const block = Buffer.alloc(algorithm === "sha256" ? 64 : 128);
  const key = Buffer.from(secret);
  block.set(key.length > block.length ? hash(key) : key);
  const inner = hash(
    block.map((byte) => byte ^ 0x36),
    message,
  );
  return hash(
    block.map((byte) => byte ^ 0x5c),
    inner,
  );
}

/** Returns well-formed text from all planes, with characters that parsers often mishandle. */
export function randomText(random: Random, longest: number): string {
  const units = [
    ...["a", "Z", "0", "-", "=", " ", "\n", "\0", "é", "ß"],
    ...["\u0300", "漢", "\uffff", "😀", "\u{10ffff}"],
  ];
  return Array.from({ length: 1 + random.below(longest) }, () => random.pick(units)).join("");
}
