// A second writer of tokens, from the layout in src/csrf/token.ts, plain hashes and RFC 2104: it shares no
// code with the product and can set every field, also to what `generate` refuses to write.
import { randomBytes } from "node:crypto";
import type { CSRFAlgorithm } from "../../src/csrf/csrf.ts";

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

/** Repeatable randomness for the property tests: a failure prints `seed`, and the seed brings it back. */
export class Dice {
  readonly seed: number;
  #state: number;

  constructor(seed = Number(process.env.RT_TEST_SEED ?? crypto.getRandomValues(new Uint32Array(1))[0])) {
    this.seed = seed;
    this.#state = seed >>> 0;
  }

  /** An integer from 0 up to, not including, `limit`. */
  below(limit: number): number {
    // splitmix32
    this.#state = (this.#state + 0x9e3779b9) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) % limit;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)]!;
  }

  /** Well-formed text from all planes, with the characters that parsers trip over. */
  text(longest: number): string {
    const units = [
      "a",
      "Z",
      "0",
      "-",
      "=",
      " ",
      "\n",
      "\0",
      "é",
      "ß",
      "\u0300",
      "漢",
      "\uffff",
      "😀",
      "\u{10ffff}",
    ];
    return Array.from({ length: 1 + this.below(longest) }, () => this.pick(units)).join("");
  }
}
