// AES-128-CBC with PKCS #7 padding, by two parts of the engine: node:crypto works at once (1 microsecond a
// value) but takes 2 to 3 ms to load, Web Crypto is there at once but goes through a thread (0.1 ms).
//
// A process that reads a credential or two uses Web Crypto only. Encryption never does: it leaves a copy of
// the value in memory that nobody zeroes.

type NodeCrypto = typeof import("node:crypto");

const ALGORITHM = "aes-128-cbc";
/** Values to decrypt with Web Crypto before node:crypto is worth its loading. */
const FEW = 8;

let nodeCrypto: NodeCrypto | undefined;
let decrypted = 0;

export async function encrypt(key: Uint8Array, iv: Uint8Array, value: Uint8Array): Promise<Uint8Array> {
  nodeCrypto ??= await import("node:crypto");
  const cipher = nodeCrypto.createCipheriv(ALGORITHM, key, iv);
  return Buffer.concat([cipher.update(value), cipher.final()]);
}

/** The value in a buffer of its own. Rejects when the padding does not fit, as with another key. */
export async function decrypt(key: Uint8Array, iv: Uint8Array, content: Uint8Array): Promise<Uint8Array> {
  if (!nodeCrypto && ++decrypted > FEW) nodeCrypto = await import("node:crypto");
  if (!nodeCrypto) return decryptInThread(key, iv, content);
  const decipher = nodeCrypto.createDecipheriv(ALGORITHM, key, iv);
  const start = decipher.update(content);
  const end = decipher.final();
  const value = new Uint8Array(start.length + end.length);
  value.set(start);
  value.set(end, start.length);
  start.fill(0);
  end.fill(0);
  return value;
}

async function decryptInThread(key: Uint8Array, iv: Uint8Array, content: Uint8Array): Promise<Uint8Array> {
  const imported = await crypto.subtle.importKey("raw", Uint8Array.from(key), "AES-CBC", false, ["decrypt"]);
  const algorithm = { name: "AES-CBC", iv: Uint8Array.from(iv) };
  return new Uint8Array(await crypto.subtle.decrypt(algorithm, imported, Uint8Array.from(content)));
}
