// Verifies a release: SHA256SUMS, its signature, and the version in the signature's trusted comment.
//
// Non-obvious:
// - The version is signed, so that an old release offered as a new one is detected before it runs (downgrade attack).
import { printable } from "../../printable.ts";
import { UserError } from "../../user-error.ts";
import { checkSignature } from "./minisign.ts";

export const SUMS = "SHA256SUMS";
export const SIGNATURE = "SHA256SUMS.minisig";

export function commentOf(version: string): string {
  return `rt ${version}`;
}

export interface Expected {
  readonly version: string;
  /** SHA-256 in lowercase hexadecimal. */
  readonly sum: string;
}

/**
 * Returns the signed version and checksum of one file.
 * @throws UserError if no key verifies the signature, or SHA256SUMS does not list the file
 */
export function readRelease(
  name: string,
  sums: Uint8Array,
  signature: Uint8Array,
  keys: readonly string[],
): Expected {
  const verdict = checkSignature(sums, signature, keys);
  if (!verdict.isValid) {
    if (verdict.fault === "form")
      throw new UserError(
        `${SIGNATURE} is not a valid minisign signature`,
        "pass the checksum with --sha256",
      );
    if (verdict.fault === "key")
      throw new UserError(
        `${SUMS} is signed with the unknown key ${verdict.key}`,
        "upgrade to an intermediate version first, or pass the checksum with --sha256",
      );
    throw new UserError(`Signature mismatch for ${SUMS}`, "nothing was changed; download it again");
  }
  const [, version] = /^rt (\d+\.\d+\.\d+\S*)$/.exec(verdict.comment) ?? [];
  if (!version)
    throw new UserError(
      `${SUMS} is signed, but not for a release of rt: "${printable(verdict.comment)}"`,
      "nothing was changed",
    );
  return { version, sum: findSum(Buffer.from(sums).toString(), name) };
}

function findSum(sums: string, name: string): string {
  for (const line of sums.split("\n")) {
    const [, sum, file] = /^([0-9a-f]{64}) [ *](.+?)\r?$/i.exec(line) ?? [];
    if (file === name) return sum!.toLowerCase();
  }
  throw new UserError(`${SUMS} has no checksum for ${printable(name)}`, "pass it with --sha256");
}
