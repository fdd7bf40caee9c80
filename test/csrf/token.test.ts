import { expect, spyOn, test } from "bun:test";
import { CSRF } from "../../src/csrf/csrf.ts";
import { MAX_CACHED_SECRET_LENGTH, MAX_KEYS, openKeyedHasher } from "../../src/csrf/keyed-hasher.ts";
import { type CSRFAlgorithm, type CSRFEncoding, MAC_BYTES, TEXT_LENGTH } from "../../src/csrf/token.ts";
import { forgeToken } from "./forge.ts";

const algorithms = Object.keys(MAC_BYTES) as CSRFAlgorithm[];
const encodings = Object.keys(TEXT_LENGTH) as CSRFEncoding[];
const combinations = algorithms.flatMap((algorithm) =>
  encodings.map((encoding) => [algorithm, encoding] as const),
);

test.each(combinations)("generate() writes the documented layout with %s in %s", (algorithm, encoding) => {
  for (const sessionId of [undefined, "visitor-1", "é😀".repeat(300)]) {
    const before = Date.now();
    const text = CSRF.generate("a secret", { algorithm, encoding, sessionId, expiresIn: 123_456_789_012 });
    const after = Date.now();
    const token = Buffer.from(text, encoding);
    expect(token.toString(encoding)).toBe(text);
    expect(token.length).toBe(32 + MAC_BYTES[algorithm]);
    const issuedAt = Number(token.readBigUInt64BE(0));
    expect(issuedAt).toBeGreaterThanOrEqual(before);
    expect(issuedAt).toBeLessThanOrEqual(after);
    expect(token.readBigUInt64BE(24)).toBe(123_456_789_012n);
    const nonce = token.subarray(8, 24);
    const same = forgeToken({ algorithm, issuedAt, nonce, expiresIn: 123_456_789_012, sessionId });
    expect(token.toString("hex")).toBe(same.toString("hex"));
  }
});

test.each(combinations)(
  "verify() accepts the signature of a second implementation with %s in %s",
  (algorithm, encoding) => {
    for (const sessionId of [undefined, "visitor-1", "é😀".repeat(300)]) {
      const options = { secret: "a secret", algorithm, encoding, sessionId };
      expect(CSRF.verify(forgeToken({ algorithm, sessionId }).toString(encoding), options)).toBe(true);
      expect(CSRF.verify(forgeToken({ algorithm, sessionId, secret: "b" }).toString(encoding), options)).toBe(
        false,
      );
    }
  },
);

test("verify() compares whole signatures in constant time, once for each secret, also after a match", () => {
  const compare = spyOn(crypto, "timingSafeEqual");
  try {
    const token = CSRF.generate("right", { algorithm: "sha512" });
    for (const [secret, isRight] of [
      ["right", true],
      ["wrong", false],
      [["right", "b", "c"], true],
      [["a", "b", "right"], true],
      [["a", "b", "c"], false],
    ] as const) {
      compare.mockClear();
      expect(CSRF.verify(token, { secret: secret as string, algorithm: "sha512" })).toBe(isRight);
      const lengths = compare.mock.calls.map((views) => views.map(({ byteLength }) => byteLength));
      expect(lengths).toEqual([secret].flat().map(() => [64, 64]));
    }
  } finally {
    compare.mockRestore();
  }
});

test("generate() never repeats a nonce", () => {
  const nonces = new Set<string>();
  for (let count = 0; count < 20_000; count++) {
    nonces.add(CSRF.generate("a secret", { encoding: "hex" }).slice(16, 48));
  }
  expect(nonces.size).toBe(20_000);
});

test("generate() spreads a nonce over all its bits", () => {
  const ones = new Array<number>(128).fill(0);
  for (let count = 0; count < 4096; count++) {
    const nonce = Buffer.from(CSRF.generate("a secret"), "base64url").subarray(8, 24);
    for (let bit = 0; bit < 128; bit++) ones[bit]! += (nonce[bit >> 3]! >> (bit & 7)) & 1;
  }
  // Half of 4096, within eight standard deviations.
  expect(Math.min(...ones)).toBeGreaterThan(2048 - 256);
  expect(Math.max(...ones)).toBeLessThan(2048 + 256);
});

// 96 bytes need no padding, so only "-_" or "+/" distinguish the two alphabets.
test.each(["sha512", "blake2b512"] as const)(
  "verify() rejects every %s token in the other base64 alphabet",
  (algorithm) => {
    for (let count = 0; count < 2000; count++) {
      const url = CSRF.generate("a secret", { algorithm, encoding: "base64url" });
      expect(CSRF.verify(url, { secret: "a secret", algorithm, encoding: "base64" })).toBe(false);
      const plain = CSRF.generate("a secret", { algorithm, encoding: "base64" });
      expect(CSRF.verify(plain, { secret: "a secret", algorithm, encoding: "base64url" })).toBe(false);
    }
  },
);

test("openKeyedHasher() keeps a key in use and evicts the least recently used one", () => {
  const kept = openKeyedHasher("sha256", "kept");
  const left = openKeyedHasher("sha256", "left");
  expect(openKeyedHasher("sha512", "kept")).not.toBe(kept);
  for (let count = 0; count < MAX_KEYS; count++) {
    openKeyedHasher("sha256", `tenant ${count}`);
    expect(openKeyedHasher("sha256", "kept")).toBe(kept);
  }
  expect(openKeyedHasher("sha256", "left")).not.toBe(left);
});

test("openKeyedHasher() does not cache a very long secret", () => {
  const secret = "x".repeat(MAX_CACHED_SECRET_LENGTH + 1);
  expect(openKeyedHasher("sha256", secret)).not.toBe(openKeyedHasher("sha256", secret));
  expect(CSRF.verify(CSRF.generate(secret), { secret })).toBe(true);
});

test("verify() is correct for more secrets than the cache holds, in any order", () => {
  const secrets = Array.from({ length: MAX_KEYS * 3 }, (_, index) => `tenant ${index}`);
  const tokens = secrets.map((secret) => CSRF.generate(secret));
  for (let step = 0; step < 500; step++) {
    const signer = (step * 7) % secrets.length;
    const checker = (step * 11) % secrets.length;
    expect(CSRF.verify(tokens[signer]!, { secret: secrets[checker] })).toBe(signer === checker);
  }
});

test("nested calls to generate() and verify() in a getter of the options do not affect each other", () => {
  let inner = "";
  const outer = CSRF.generate("outer", {
    get sessionId() {
      inner = CSRF.generate("inner", { sessionId: "b" });
      return "a";
    },
  });
  expect(CSRF.verify(inner, { secret: "inner", sessionId: "b" })).toBe(true);
  const options = {
    secret: "outer",
    get sessionId() {
      expect(CSRF.verify(inner, { secret: "inner", sessionId: "b" })).toBe(true);
      return "a";
    },
  };
  expect(CSRF.verify(outer, options)).toBe(true);
});
