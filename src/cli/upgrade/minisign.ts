// Signatures in the format of minisign: Ed25519 over the BLAKE2b-512 of a file, and over that signature together with a
// comment, which can thus be trusted as well.
//
// Contract: what is accepted is the text that the owner of a key made, but for its first line, which nobody signs. The
// form is taken by the letter: there is one way to write each signature. The older kind, over the file itself, is
// refused: nobody signs releases so.
import { createHash, createPublicKey, verify } from "node:crypto";

export const PREHASHED = "ED";
export const ALGORITHM = "Ed";
const ID_LENGTH = 8;
/** What DER puts in front of the 32 bytes of a public key. */
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

/** Undefined unless it is the base64 of so many bytes, written in the one way. */
export function decode(text: string, length: number): Buffer | undefined {
  const bytes = Buffer.from(text, "base64");
  return bytes.length === length && bytes.toString("base64") === text ? bytes : undefined;
}

/** @throws RangeError for what is no public key of minisign */
export function readPublicKey(text: string): PublicKey {
  const bytes = decode(text, 2 + ID_LENGTH + 32);
  if (bytes?.toString("latin1", 0, 2) !== ALGORITHM) throw new RangeError("Not a public key of minisign");
  return { id: bytes.subarray(2, 2 + ID_LENGTH), point: bytes.subarray(2 + ID_LENGTH) };
}

/** As minisign writes the name of a key. */
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

/** @param keys public keys, as minisign prints them */
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
