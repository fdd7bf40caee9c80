// The short way to decrypt must agree with the engine's cipher for every length, and refuse what it refuses.
import { createCipheriv } from "node:crypto";
import { expect, test } from "bun:test";
import { decryptShort } from "../../platform/linux/cipher.ts";

function encrypt(key: Uint8Array, iv: Uint8Array, value: Uint8Array): Uint8Array {
  const cipher = createCipheriv("aes-128-cbc", key, iv);
  return Buffer.concat([cipher.update(value), cipher.final()]);
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
    const fresh = createCipheriv("aes-128-cbc", key, iv).setAutoPadding(false);
    expect(() => decryptShort(key, iv, Buffer.concat([fresh.update(block), fresh.final()]))).toThrow(
      "wrong padding",
    );
  }
});
