// Reads a secret from an age-encrypted file of the repository.
//
// Non-obvious:
// - This is a separate module, so that only projects with age files load the library, which is larger than the rest of a run.

import type { OpenFiles } from "../age/age-file.ts";
import type { SecretSource } from "./mapping.ts";

/** Returns the value, which the caller zeroizes, or the reason why it is missing. @throws UserError */
export async function readAgeFile(
  source: Extract<SecretSource, { kind: "age" }>,
  name: string,
  folder: string,
  opened: OpenFiles,
): Promise<Uint8Array | string> {
  const { readEntry } = await import("../age/age-file.ts");
  return await readEntry(source, name, folder, opened);
}
