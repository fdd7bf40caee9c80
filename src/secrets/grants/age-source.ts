// A secret in a file of the repository that is encrypted with age.
//
// Surprising: what this does without is loaded by nobody else: the library is larger than all the rest of a run.

import type { OpenFiles } from "../age/age-file.ts";
import type { SecretSource } from "./mapping.ts";

/** The value, which is the caller's to zero; or why there is none, as a sentence. Throws Failure. */
export async function readAgeFile(
  source: Extract<SecretSource, { kind: "age" }>,
  name: string,
  folder: string,
  opened: OpenFiles,
): Promise<Uint8Array | string> {
  const { readEntry } = await import("../age/age-file.ts");
  return await readEntry(source, name, folder, opened);
}
