// The signature of an artifact, as turbo makes it since 2.9.18: a keyed hash over what it is, where it lies and its bytes,
// each with its length in front, so that none can be moved into the next.
import { timingSafeEqual } from "node:crypto";

const KIND = "artifact-signature:v2";
const UNSIGNED = "What the shared cache has is not signed with this key, so it is not used";

/** @param teamId the team's id, never its name; "" where there is none */
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

/** In the same time, whatever is wrong. */
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

/** What makes one believe an index or an archive: the key that all have who share it, where there is one. */
export class ArtifactSigner {
  readonly #key: Uint8Array | undefined;
  readonly #teamId: string;
  readonly #warn: (line: string) => void;

  /** @param key undefined where nothing is signed, and everything believed */
  constructor(key: Uint8Array | undefined, teamId: string, warn: (line: string) => void) {
    this.#key = key;
    this.#teamId = teamId;
    this.#warn = warn;
  }

  sign(id: string, bytes: Uint8Array): string | undefined {
    return this.#key && signArtifact(this.#key, id, this.#teamId, bytes);
  }

  /** Undefined for what is not signed with it, which is told. @param tag "" where it has none */
  open(id: string, bytes: Uint8Array, tag: string): Uint8Array | undefined {
    if (!this.#key || isSigned(tag, this.#key, id, this.#teamId, bytes)) return bytes;
    this.#warn(UNSIGNED);
    return undefined;
  }
}
