// Manages the key that signs releases:
// - `npm run release-key -- create`: creates a pair; the secret key goes to the system's credential store
// - `npm run release-key -- create --file <path>`: stores it in a file that only this user can read
// - `npm run release-key -- sign <directory>`: signs the SHA256SUMS of a release
//
// Invariants: the secret key is read from RT_RELEASE_KEY or the credential store, and never reaches the screen, an argument or
// the repository. A key that src/cli/upgrade/release-keys.ts does not list signs nothing: no client could verify it.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { errorMessage } from "../../platform/caught-error.ts";
import { RELEASE_KEYS } from "../../src/cli/upgrade/release-keys.ts";
import { commentOf, SIGNATURE, SUMS } from "../../src/cli/upgrade/release.ts";
import { createKeyPair, publicKeyOf, signContent, signForSsh } from "./minisign.ts";
import { PRODUCT } from "../product.ts";
import { SSH_SIGNATURE } from "./release-files.ts";

const VARIABLE = "RT_RELEASE_KEY";
const STORED = { service: `${PRODUCT.package}.release`, name: "minisign secret key" } as const;

async function readStored(): Promise<string | null> {
  const { secrets } = await import("../../src/secrets/api/secrets.ts");
  return await secrets.get(STORED);
}

/** @throws Error if the key is missing */
async function readReleaseKey(): Promise<string> {
  const key = process.env[VARIABLE] || (await readStored());
  if (key) return key;
  throw new Error(`There is no key to sign with: ${VARIABLE} is not set, and the credential store has none`);
}

/**
 * Writes SHA256SUMS.minisig and SHA256SUMS.sig next to SHA256SUMS.
 *
 * @param keys public keys that clients trust
 */
export async function signRelease(
  directory: string,
  secretKey: string,
  keys: readonly string[] = RELEASE_KEYS,
): Promise<void> {
  const publicKey = publicKeyOf(secretKey);
  if (!keys.includes(publicKey))
    throw new Error(
      `The key ${publicKey} is not in src/cli/upgrade/release-keys.ts, so nobody would accept its signature`,
    );
  const sums = await readFile(join(directory, SUMS));
  await writeFile(join(directory, SIGNATURE), signContent(sums, commentOf(PRODUCT.version), secretKey));
  await writeFile(join(directory, SSH_SIGNATURE), signForSsh(sums, secretKey));
}

async function create(file: string | undefined): Promise<void> {
  const { publicKey, secretKey } = createKeyPair();
  if (file !== undefined) {
    const comment = "untrusted comment: minisign secret key of rt's releases, without a password";
    await writeFile(file, `${comment}\n${secretKey}\n`, { mode: 0o600, flag: "wx" });
  } else {
    // The existing key may be the only one that installed clients trust.
    if ((await readStored()) !== null)
      throw new Error(`The credential store has a key already ("${STORED.service}"); use --file for another`);
    const { secrets } = await import("../../src/secrets/api/secrets.ts");
    await secrets.set({ ...STORED, value: secretKey });
  }
  const place = file ?? `the credential store, service "${STORED.service}", name "${STORED.name}"`;
  console.log(`The secret half is in ${place}: keep a copy where no network is`);
  console.log(`The public half is for src/cli/upgrade/release-keys.ts:\n\n  ${JSON.stringify(publicKey)},`);
}

async function run(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    options: { file: { type: "string" } },
    allowPositionals: true,
  });
  const [command, directory] = positionals;
  if (command === "create" && positionals.length === 1) return await create(values.file);
  if (command === "sign" && positionals.length === 2)
    return await signRelease(directory!, await readReleaseKey());
  throw new Error("Say either: create [--file <path>], or: sign <directory>");
}

if (import.meta.main) {
  try {
    await run(process.argv.slice(2));
  } catch (error) {
    console.error(`error: ${errorMessage(error)}`);
    process.exitCode = 1;
  }
}
