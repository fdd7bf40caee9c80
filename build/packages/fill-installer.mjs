// Writes the trusted keys and the download address into install.sh and install.ps1, for the build and for action.yml:
//
//   node build/packages/fill-installer.mjs install.sh <output>
//
// Invariants:
// - It runs in Node.js 20, which GitHub's runners have, and needs no other package. So it reads release-keys.ts as text.
// - A key list that it cannot read is an error. An installer without keys accepts only --sha256.
import { readFileSync, writeFileSync } from "node:fs";

const RELEASE_KEYS = new URL("../../src/cli/upgrade/release-keys.ts", import.meta.url);
/** OpenSSH's "ssh-ed25519" and the length of the key, which follows. */
const SSH_START = Buffer.from("0000000b7373682d6564323535313900000020", "hex");
/** Offset of the key in minisign's encoding, after the algorithm and the key ID. */
const POINT = 10;
/** 42 bytes in base64, of which the first two are "Ed". */
const MINISIGN_KEY = /^RW[Q-T][A-Za-z0-9+/]{53}$/;

/**
 * Returns a minisign public key in OpenSSH's encoding, as after "ssh-ed25519".
 *
 * @param {string} key
 * @returns {string}
 * @throws {RangeError} if it is not a minisign public key
 */
function sshPublicKey(key) {
  if (!MINISIGN_KEY.test(key)) throw new RangeError("Not a minisign public key");
  return Buffer.concat([SSH_START, Buffer.from(key, "base64").subarray(POINT)]).toString("base64");
}

/**
 * Returns the installer's text with its keys and, if given, its address.
 *
 * @param {"install.sh" | "install.ps1"} name
 * @param {readonly string[]} keys
 * @param {string} [url]
 * @returns {string}
 */
export function fillInstaller(name, keys, url) {
  const script = readFileSync(new URL(name, import.meta.url), "utf8");
  const lines = keys.map((key) => `${key}:${sshPublicKey(key)}`).join("\n");
  const withKeys = keys.length > 0 ? script.replace("@KEYS@", () => lines) : script;
  return url ? withKeys.replace("@RELEASES@", () => url) : withKeys;
}

/** @returns {string[]} */
function readReleaseKeys() {
  const source = readFileSync(RELEASE_KEYS, "utf8");
  const list = /^export const RELEASE_KEYS: readonly string\[\] = \[([^\]]*)\];$/m.exec(source)?.[1];
  if (list === undefined) throw new Error("release-keys.ts has no list of keys");
  // A key can contain "//", but no space.
  const keys = list.replaceAll(/(?:^|\s)\/\/.*$/gm, "").trim();
  return JSON.parse(`[${keys.replace(/,$/, "")}]`);
}

// `import.meta.main` needs Node.js 24, and `import.meta.url` differs from this path where a folder is a symlink.
if (process.argv[1]?.endsWith("fill-installer.mjs"))
  writeFileSync(process.argv[3], fillInstaller(process.argv[2], readReleaseKeys()));
