// What a release says of its files: SHA256SUMS, signed, with the version in the comment of the signature.
//
// The version is in what is signed so that an older release, put in the place of a newer one with all its signatures, is
// known for what it is before anything of it is run.
import { printable } from "../../printable.ts";
import { UserError } from "../../user-error.ts";
import { checkSignature } from "./minisign.ts";

export const SUMS = "SHA256SUMS";
export const SIGNATURE = "SHA256SUMS.minisig";

/** The comment that a release of this version is signed with. */
export function commentOf(version: string): string {
  return `rt ${version}`;
}

export interface Expected {
  readonly version: string;
  /** SHA-256, in small hexadecimal digits. */
  readonly sum: string;
}

/**
 * What the release says of one file.
 * @throws Failure when it is not signed with one of the keys, or does not have the file
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
      throw new UserError(`${SIGNATURE} is no signature that rt can read`, "give the checksum with --sha256");
    if (verdict.fault === "key")
      throw new UserError(
        `${SUMS} is signed with the key ${verdict.key}, which this rt does not know`,
        "a version in between may know it; or give the checksum with --sha256",
      );
    throw new UserError(`${SUMS} is not what was signed`, "nothing was changed; download it again");
  }
  const [, version] = /^rt (\d+\.\d+\.\d+\S*)$/.exec(verdict.comment) ?? [];
  if (!version)
    throw new UserError(
      `${SUMS} is signed, but not as a release of rt: "${printable(verdict.comment)}"`,
      "nothing was changed",
    );
  return { version, sum: findSum(Buffer.from(sums).toString(), name) };
}

function findSum(sums: string, name: string): string {
  for (const line of sums.split("\n")) {
    const [, sum, file] = /^([0-9a-f]{64}) [ *](.+?)\r?$/i.exec(line) ?? [];
    if (file === name) return sum!.toLowerCase();
  }
  throw new UserError(`${SUMS} has no checksum of ${printable(name)}`, "give it with --sha256");
}
