// A secret in a file of the repository that is encrypted with age.
import { Failure } from "../../failure.ts";
import { printable } from "../../printable.ts";

/** The value, which is the caller's to zero; or why there is none, as a sentence. */
export async function readAgeFile(file: string, name: string, _folder: string): Promise<Uint8Array | string> {
  throw new Failure(
    `${name} is in ${printable(file)}, and this version of rt reads no files of age`,
    'keep it in the credential store: from = "service/name"',
  );
}
