// Encrypts and decrypts secret values with AES-128-CBC and PKCS #7 padding.
//
// Non-obvious:
// - Decryption uses Web Crypto, which is a global: loading node:crypto costs a process that reads one secret 2 to 3 ms.
// - Encryption uses node:crypto: Web Crypto copies its input and frees the copy without zeroizing it. A test searches the
//   memory of a process for the value.

/** Returns the ciphertext. `value` stays the caller's. */
export async function encrypt(key: Uint8Array, iv: Uint8Array, value: Uint8Array): Promise<Uint8Array> {
  const { createCipheriv } = await import("node:crypto");
  const cipher = createCipheriv("aes-128-cbc", key, iv);
  return Buffer.concat([cipher.update(value), cipher.final()]);
}

/**
 * Returns the value in a new buffer, which the caller zeroizes.
 *
 * @throws DOMException if the length or the padding is invalid, for example because the key is a different one
 */
export async function decrypt(key: Uint8Array, iv: Uint8Array, content: Uint8Array): Promise<Uint8Array> {
  const { subtle } = crypto;
  const imported = await subtle.importKey("raw", unshared(key), "AES-CBC", false, ["decrypt"]);
  return new Uint8Array(
    await subtle.decrypt({ name: "AES-CBC", iv: unshared(iv) }, imported, unshared(content)),
  );
}

/** No buffer of this folder is a SharedArrayBuffer. */
function unshared(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes as Uint8Array<ArrayBuffer>;
}
