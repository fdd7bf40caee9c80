// Signs artifacts as turbo does since 2.9.18: an HMAC over kind, ID, team and bytes. Each field is prefixed with its
// length, so that no byte can move to another field.
import { timingSafeEqual } from "node:crypto";

const KIND = "artifact-signature:v2";
const INVALID = "Shared cache: invalid signature, ignored";
const MISSING = "Shared cache: a result without a signature is ignored; does the server store signatures?";

/** @param teamId ID of the team, not its name; "" without a team */
export function signArtifact(key: Uint8Array, id: string, teamId: string, bytes: Uint8Array): string {
  const hasher = new Bun.CryptoHasher("sha256", key);
  for (const field of [KIND, id, teamId, bytes]) {
    const content = typeof field === "string" ? new TextEncoder().encode(field) : field;
    const length = new DataView(new ArrayBuffer(8));
    length.setBigUint64(0, BigInt(content.length), true);
    hasher.update(length.buffer);
    hasher.update(content);
  }
  return hasher.digest("base64");
}

/** Compares in constant time. */
export function isSigned(
  tag: string,
  key: Uint8Array,
  id: string,
  teamId: string,
  bytes: Uint8Array,
): boolean {
  const right = Buffer.from(signArtifact(key, id, teamId, bytes));
  const given = Buffer.from(tag);
  return given.length === right.length && timingSafeEqual(given, right);
}

/** Signs and verifies artifacts with the key that all users of the cache share. */
export class ArtifactSigner {
  readonly #key: Uint8Array | undefined;
  readonly #teamId: string;
  readonly #warn: (line: string) => void;

  /** @param key undefined if artifacts are not signed; then all are accepted */
  constructor(key: Uint8Array | undefined, teamId: string, warn: (line: string) => void) {
    this.#key = key;
    this.#teamId = teamId;
    this.#warn = warn;
  }

  sign(id: string, bytes: Uint8Array): string | undefined {
    return this.#key && signArtifact(this.#key, id, this.#teamId, bytes);
  }

  /** Returns undefined and warns if the signature is invalid. @param tag "" if it is missing */
  open(id: string, bytes: Uint8Array, tag: string): Uint8Array | undefined {
    if (!this.#key || isSigned(tag, this.#key, id, this.#teamId, bytes)) return bytes;
    this.#warn(tag === "" ? MISSING : INVALID);
    return undefined;
  }
}
