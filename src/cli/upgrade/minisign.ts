// Verifies signatures in minisign's format: Ed25519 over the BLAKE2b-512 hash of a file, and a second signature over the
// first one and the trusted comment.
//
// Invariants:
// - Everything but the untrusted comment in the first line is covered by a signature.
// - Parsing is strict: each signature has exactly one valid encoding (not malleable).
// - Legacy signatures over the unhashed file are rejected: no release uses them.
import { createHash, createPublicKey, verify } from "node:crypto";

export const PREHASHED = "ED";
export const ALGORITHM = "Ed";
const ID_LENGTH = 8;
/** DER prefix of an Ed25519 public key (SubjectPublicKeyInfo), before its 32 bytes. */
const SPKI_START = Buffer.from("302a300506032b6570032100", "hex");

export interface PublicKey {
  readonly id: Buffer;
  /** 32 bytes. */
  readonly point: Buffer;
}

export type SignatureVerdict =
  | { readonly isValid: true; readonly comment: string }
  | { readonly isValid: false; readonly fault: "form" | "content" }
  | { readonly isValid: false; readonly fault: "key"; readonly key: string };

/** Decodes canonical base64. Returns undefined if it is not canonical or not `length` bytes. */
export function decode(text: string, length: number): Buffer | undefined {
  const bytes = Buffer.from(text, "base64");
  return bytes.length === length && bytes.toString("base64") === text ? bytes : undefined;
}

/** @throws RangeError if it is not a minisign public key */
export function readPublicKey(text: string): PublicKey {
  const bytes = decode(text, 2 + ID_LENGTH + 32);
  if (bytes?.toString("latin1", 0, 2) !== ALGORITHM) throw new RangeError("Not a minisign public key");
  return { id: bytes.subarray(2, 2 + ID_LENGTH), point: bytes.subarray(2 + ID_LENGTH) };
}

/** Returns the key ID in minisign's notation. */
export function nameKey(id: Uint8Array): string {
  return Buffer.from(id.toReversed()).toString("hex").toUpperCase();
}

export function prehash(content: Uint8Array): Buffer {
  return createHash("blake2b512").update(content).digest();
}

function isSigned(message: Uint8Array, { point }: PublicKey, signature: Uint8Array): boolean {
  const key = createPublicKey({ key: Buffer.concat([SPKI_START, point]), format: "der", type: "spki" });
  return verify(null, message, key, signature);
}

const FORM =
  /^untrusted comment: [^\r\n]*\r?\n([^\r\n]+)\r?\ntrusted comment: ([^\r\n]*)\r?\n([^\r\n]+)(?:\r?\n)?$/;

/** @param keys public keys in minisign's notation */
export function checkSignature(
  content: Uint8Array,
  signatureFile: Uint8Array,
  keys: readonly string[],
): SignatureVerdict {
  const text = Buffer.from(signatureFile).toString("latin1");
  const [, first = "", comment = "", second = ""] = FORM.exec(text) ?? [];
  const packed = decode(first, 2 + ID_LENGTH + 64);
  const overAll = decode(second, 64);
  if (!packed || !overAll || packed.toString("latin1", 0, 2) !== PREHASHED)
    return { isValid: false, fault: "form" };
  const id = packed.subarray(2, 2 + ID_LENGTH);
  const signature = packed.subarray(2 + ID_LENGTH);
  const key = keys.map(readPublicKey).find((each) => each.id.equals(id));
  if (!key) return { isValid: false, fault: "key", key: nameKey(id) };
  const signedComment = Buffer.from(comment, "latin1");
  const isValid =
    isSigned(prehash(content), key, signature) &&
    isSigned(Buffer.concat([signature, signedComment]), key, overAll);
  return isValid ? { isValid, comment: signedComment.toString() } : { isValid, fault: "content" };
}
