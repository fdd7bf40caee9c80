// The short way to decrypt must agree with the engine's cipher for every length, and refuse what it refuses.
import { createCipheriv, Decipheriv } from "node:crypto";
import { expect, spyOn, test } from "bun:test";
import { decrypt, decryptShort } from "../../../platform/secrets/linux/aes-cbc.ts";
import { recordBuffers } from "../../support/keyring/recorded-buffers.ts";

function encrypt(key: Uint8Array, iv: Uint8Array, value: Uint8Array): Uint8Array {
  const cipher = createCipheriv("aes-128-cbc", key, iv);
  return Buffer.concat([cipher.update(value), cipher.final()]);
}

/** Of whole blocks. */
function encryptUnpadded(key: Uint8Array, iv: Uint8Array, blocks: Uint8Array): Uint8Array {
  const cipher = createCipheriv("aes-128-cbc", key, iv).setAutoPadding(false);
  return Buffer.concat([cipher.update(blocks), cipher.final()]);
}

const random = (length: number) => crypto.getRandomValues(new Uint8Array(length));

test("decryptShort() answers what node:crypto encrypted, for every length up to 300 bytes", () => {
  for (let length = 0; length <= 300; length++) {
    const [key, iv, value] = [random(16), random(16), random(length)];
    expect(decryptShort(key, iv, encrypt(key, iv, value))).toEqual(value);
  }
});

test("decryptShort() answers the example of NIST SP 800-38A, F.2.2", () => {
  const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"));
  const key = bytes("2b7e151628aed2a6abf7158809cf4f3c");
  const iv = bytes("000102030405060708090a0b0c0d0e0f");
  const first = bytes("7649abac8119b246cee98e9b12e9197d");
  const plain = bytes("6bc1bee22e409f96e93d7e117393172a");
  // The example has no padding: a second block supplies it.
  const padding = encrypt(key, first, new Uint8Array(0));
  expect(decryptShort(key, iv, Uint8Array.of(...first, ...padding))).toEqual(plain);
});

test("decryptShort() refuses wrong lengths and paddings", () => {
  const [key, iv] = [random(16), random(16)];
  for (const length of [0, 1, 15, 17, 31])
    expect(() => decryptShort(key, iv, new Uint8Array(length))).toThrow();
  expect(() => decryptShort(key, new Uint8Array(8), new Uint8Array(16))).toThrow();
  for (const end of [[0], [17], [3, 2, 3], [255]]) {
    const block = new Uint8Array(16);
    block.set(end, 16 - end.length);
    expect(() => decryptShort(key, iv, encryptUnpadded(key, iv, block))).toThrow("wrong padding");
  }
});

test("decryptShort() leaves zeros in whatever it made of the key and the value", async () => {
  const [key, iv, value] = [random(16), random(16), random(40)];
  const content = encrypt(key, iv, value);
  const unpadded = encryptUnpadded(key, iv, new Uint8Array(48));
  decryptShort(key, iv, content); // makes the tables, which are the same for all
  const derived = await recordBuffers(async () => {
    expect(decryptShort(key, iv, content)).toEqual(value);
    expect(() => decryptShort(key, iv, unpadded)).toThrow("wrong padding");
  });
  // For each of the two: the key's schedule, and the value with its padding.
  expect(derived).toHaveLength(2 * 2);
  expect(derived.filter((bytes) => bytes.some((byte) => byte !== 0))).toEqual([]);
});

test("decrypt() leaves zeros in what node:crypto gave it of a long value", async () => {
  const [key, iv, value] = [random(16), random(16), random(1999)];
  using update = spyOn(Decipheriv.prototype, "update");
  using final = spyOn(Decipheriv.prototype, "final");
  expect(await decrypt(key, iv, encrypt(key, iv, value))).toEqual(value);
  const parts = [...update.mock.results, ...final.mock.results].map((result) => result.value as Buffer);
  expect(parts.map(({ length }) => length)).toEqual([1984, 15]);
  expect(parts.filter((bytes) => bytes.some((byte) => byte !== 0))).toEqual([]);
});
