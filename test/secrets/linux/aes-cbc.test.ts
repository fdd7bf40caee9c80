// AES-CBC of encrypted sessions must agree with node:crypto for every length, and reject what node:crypto rejects.
import { createCipheriv, createDecipheriv } from "node:crypto";
import { expect, test } from "bun:test";
import { decrypt, encrypt } from "../../../platform/secrets/linux/aes-cbc.ts";
import { recordBuffers } from "../../support/keyring/recorded-buffers.ts";

const ALGORITHM = "aes-128-cbc";

function encryptWithNode(key: Uint8Array, iv: Uint8Array, value: Uint8Array, isPadded = true): Uint8Array {
  const cipher = createCipheriv(ALGORITHM, key, iv).setAutoPadding(isPadded);
  return Buffer.concat([cipher.update(value), cipher.final()]);
}

const random = (length: number) => crypto.getRandomValues(new Uint8Array(length));
const LENGTHS = Array.from({ length: 301 }, (_, length) => length).concat(1024, 5000);

test("decrypt() returns what node:crypto has encrypted, for every length up to 300 bytes", async () => {
  for (const length of LENGTHS) {
    const [key, iv, value] = [random(16), random(16), random(length)];
    expect(await decrypt(key, iv, encryptWithNode(key, iv, value))).toEqual(value);
  }
});

test("encrypt() returns what node:crypto decrypts, for every length up to 300 bytes", async () => {
  for (const length of LENGTHS) {
    const [key, iv, value] = [random(16), random(16), random(length)];
    const decipher = createDecipheriv(ALGORITHM, key, iv);
    const decrypted = Buffer.concat([decipher.update(await encrypt(key, iv, value)), decipher.final()]);
    expect(new Uint8Array(decrypted)).toEqual(value);
  }
});

test("decrypt() returns the example of NIST SP 800-38A, F.2.2", async () => {
  const bytes = (hex: string) => Uint8Array.fromHex(hex);
  const key = bytes("2b7e151628aed2a6abf7158809cf4f3c");
  const iv = bytes("000102030405060708090a0b0c0d0e0f");
  const first = bytes("7649abac8119b246cee98e9b12e9197d");
  const plain = bytes("6bc1bee22e409f96e93d7e117393172a");
  // The example has no padding: a second block supplies it.
  const padding = encryptWithNode(key, first, new Uint8Array(0));
  expect(await decrypt(key, iv, Uint8Array.of(...first, ...padding))).toEqual(plain);
});

test.each([0, 1, 15, 17, 31])("decrypt() rejects a ciphertext of %d bytes", async (length) => {
  await expect(decrypt(random(16), random(16), new Uint8Array(length))).rejects.toThrow();
});

test("decrypt() rejects an initialization vector of 8 bytes", async () => {
  await expect(decrypt(random(16), random(8), new Uint8Array(16))).rejects.toThrow();
});

test.each([[[0]], [[17]], [[3, 2, 3]], [[255]]])(
  "decrypt() rejects a value whose padding is %j",
  async (padding) => {
    const [key, iv, block] = [random(16), random(16), new Uint8Array(16)];
    block.set(padding, 16 - padding.length);
    await expect(decrypt(key, iv, encryptWithNode(key, iv, block, false))).rejects.toThrow();
  },
);

test("decrypt() creates no buffer that contains the value besides the returned one", async () => {
  const [key, iv, value] = [random(16), random(16), random(40)];
  const content = encryptWithNode(key, iv, value);
  let decrypted: Uint8Array | undefined;
  const buffers = await recordBuffers(async () => void (decrypted = await decrypt(key, iv, content)));
  expect(decrypted).toEqual(value);
  expect(buffers.filter((bytes) => bytes !== decrypted)).toEqual([]);
});
