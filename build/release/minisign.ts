// Creates keys and signatures in minisign's format, which src/cli/upgrade/minisign.ts verifies. For machines that have only OpenSSH,
// the same key also signs for `ssh-keygen -Y verify`.
//
// A secret key is stored as by `minisign -G -W`, without a password. The two kinds of signature cannot be confused: the content that
// OpenSSH signs begins with a magic word.
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { ALGORITHM, nameKey, PREHASHED, prehash } from "../../src/cli/upgrade/minisign.ts";

/** DER prefix of a 32-byte secret key. */
const PKCS8_START = Buffer.from("302e020100300506032b657004220420", "hex");
const NO_PASSWORD = "\0\0";
const CHECKSUM = "B2";
/** Offset of the key id in a secret key, after the unused password parameters. */
const ID = 54;
const SECRET_KEY_LENGTH = 158;

export interface ReleaseKeyPair {
  /** Both in minisign's encoding, without the comment line. */
  readonly publicKey: string;
  readonly secretKey: string;
}

export function createKeyPair(): ReleaseKeyPair {
  const { privateKey } = generateKeyPairSync("ed25519");
  const { d, x } = privateKey.export({ format: "jwk" });
  const [seed, point] = [d, x].map((part) => Buffer.from(part!, "base64url")) as [Buffer, Buffer];
  const id = crypto.getRandomValues(Buffer.alloc(8));
  const head = Buffer.alloc(ID);
  head.write(ALGORITHM + NO_PASSWORD + CHECKSUM, "latin1");
  return {
    publicKey: Buffer.concat([Buffer.from(ALGORITHM), id, point]).toString("base64"),
    secretKey: Buffer.concat([head, id, seed, point, Buffer.alloc(32)]).toString("base64"),
  };
}

interface SecretKey {
  readonly id: Buffer;
  readonly point: Buffer;
  sign(message: Uint8Array): Buffer;
}

/**
 * @param text a secret key, optionally after a comment line
 * @throws Error for any other text, without quoting it
 */
function readSecretKey(text: string): SecretKey {
  const bytes = Buffer.from(text.trim().split("\n").at(-1)!, "base64");
  const expected = ALGORITHM + NO_PASSWORD + CHECKSUM;
  if (bytes.length !== SECRET_KEY_LENGTH || bytes.toString("latin1", 0, 6) !== expected)
    throw new Error("The secret key is none of minisign without a password (minisign -G -W)");
  const [id, seed] = [bytes.subarray(ID, ID + 8), bytes.subarray(ID + 8, ID + 40)];
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_START, seed]), format: "der", type: "pkcs8" });
  const point = Buffer.from(createPublicKey(key).export({ format: "jwk" }).x!, "base64url");
  // minisign leaves the checksum empty without a password.
  if (!point.equals(bytes.subarray(ID + 40, ID + 72))) throw new Error("The secret key is damaged");
  return { id, point, sign: (message) => sign(null, message, key) };
}

export function publicKeyOf(secretKey: string): string {
  const { id, point } = readSecretKey(secretKey);
  return Buffer.concat([Buffer.from(ALGORITHM), id, point]).toString("base64");
}

/** Returns the text of a .minisig file. */
export function signContent(content: Uint8Array, comment: string, secretKey: string): string {
  const key = readSecretKey(secretKey);
  const signature = key.sign(prehash(content));
  const overAll = key.sign(Buffer.concat([signature, Buffer.from(comment)]));
  const packed = Buffer.concat([Buffer.from(PREHASHED), key.id, signature]);
  return [
    `untrusted comment: signature of the key ${nameKey(key.id)}`,
    packed.toString("base64"),
    `trusted comment: ${comment}`,
    overAll.toString("base64"),
    "",
  ].join("\n");
}

/** Namespace of OpenSSH signatures: a signature for another purpose is rejected. */
const SSH_NAMESPACE = "rt-release";
const SSH_HASH = "sha512";

/** Encodes OpenSSH strings, each with a length prefix. */
function strings(...values: ReadonlyArray<string | Uint8Array>): Buffer {
  return Buffer.concat(
    values.flatMap((value) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(value.length);
      return [length, Buffer.from(value as Uint8Array)];
    }),
  );
}

export function signForSsh(content: Uint8Array, secretKey: string): string {
  const key = readSecretKey(secretKey);
  const hash = createHash(SSH_HASH).update(content).digest();
  const message = Buffer.concat([Buffer.from("SSHSIG"), strings(SSH_NAMESPACE, "", SSH_HASH, hash)]);
  const blob = Buffer.concat([
    Buffer.from("SSHSIG\0\0\0\x01", "latin1"),
    strings(strings("ssh-ed25519", key.point), SSH_NAMESPACE, "", SSH_HASH),
    strings(strings("ssh-ed25519", key.sign(message))),
  ]);
  const lines = blob.toString("base64").match(/.{1,70}/g)!;
  return ["-----BEGIN SSH SIGNATURE-----", ...lines, "-----END SSH SIGNATURE-----", ""].join("\n");
}
