// `rt upgrade <url|file>`: exchanges this program for another version of it, and `rt upgrade --rollback` undoes that.
//
// Contract: rt fetches nothing that the user has not named. Nothing is run before it is known to be what a release has -
// its SHA256SUMS, signed with a key that this program carries - or what the user gave the checksum of; and this program
// is replaced only by one that is for the same system, starts, and is no older unless that is asked for. At every moment
// there is a working rt under its name. The one before stays beside it, as rt.previous.
import { createHash } from "node:crypto";
import { closeSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { VERSION } from "../../version.ts";
import { extractProgram } from "./archive.ts";
import { RELEASE_KEYS } from "./release-keys.ts";
import { openOrigin, type Origin } from "./release-source.ts";
import { describeFormat, readFormat } from "./executable-format.ts";
import { readRelease, SIGNATURE, SUMS } from "./release.ts";
import { readVersion, restore, swap } from "./executable-swap.ts";
import { createDraft, inWorkspace } from "./staging-directory.ts";
import { UserError } from "../../user-error.ts";
import { printable } from "../../printable.ts";
import { printLine } from "../../output.ts";

/** Who else may have put rt where it is, and does upgrades there. */
const OWNERS: ReadonlyArray<readonly [pattern: RegExp, name: string]> = [
  [/[\\/]node_modules[\\/]/, "npm"],
  [/[\\/]Cellar[\\/]/, "Homebrew"],
  [/[\\/]scoop[\\/]apps[\\/]/, "Scoop"],
];

export async function runUpgradeCommand(args: string[]): Promise<void> {
  const words = readWords(args);
  const program = realpathSync(process.execPath);
  const [, owner] = OWNERS.find(([pattern]) => pattern.test(program)) ?? [];
  if (owner) throw new UserError(`${program} was installed by ${owner}`, `upgrade it with ${owner} as well`);
  if (words.isRollback) {
    const version = await restore(program);
    return printLine(`rt is ${version} again, at ${program}`);
  }
  const version = await upgrade(program, words);
  printLine(`rt ${VERSION} is now ${version}, at ${program}`);
  printLine(`rt upgrade --rollback brings ${VERSION} back`);
}

interface UpgradeArguments {
  readonly isRollback: boolean;
  readonly source: string;
  readonly sha256?: string;
  readonly mayBeOlder: boolean;
}

function readWords(args: string[]): UpgradeArguments {
  let parsed;
  try {
    parsed = parseArgs({
      args,
      options: {
        sha256: { type: "string" },
        "allow-downgrade": { type: "boolean", default: false },
        rollback: { type: "boolean", default: false },
      },
      allowPositionals: true,
    });
  } catch (error) {
    const [message = ""] = (error as Error).message.split(/\.(?:\s|$)/, 1);
    throw new UserError(printable(message), "rt help upgrade shows what there is");
  }
  const { values, positionals } = parsed;
  const { sha256, rollback: isRollback, "allow-downgrade": mayBeOlder } = values;
  if (isRollback && (positionals.length > 0 || sha256 !== undefined || mayBeOlder))
    throw new UserError("--rollback takes nothing else", "it brings back the version before this one");
  if (isRollback) return { isRollback, source: "", mayBeOlder };
  if (positionals.length !== 1)
    throw new UserError(
      "An upgrade needs one URL or file to come from",
      "rt fetches nothing by itself; a script of this name is started with rt run upgrade",
    );
  if (sha256 !== undefined && !/^[0-9a-f]{64}$/i.test(sha256))
    throw new UserError("--sha256 is not a SHA-256", "it has 64 hexadecimal digits");
  return { isRollback, source: positionals[0]!, sha256: sha256?.toLowerCase(), mayBeOlder };
}

async function upgrade(program: string, { source, sha256, mayBeOlder }: UpgradeArguments): Promise<string> {
  const origin = openOrigin(source, sha256 !== undefined);
  if (sha256 === undefined && RELEASE_KEYS.length === 0)
    throw new UserError(
      "This rt was built without a key that releases are signed with",
      "give the checksum with --sha256",
    );
  const refuseOlder = (version: string) => {
    if (!mayBeOlder && Bun.semver.order(version, VERSION) < 0)
      throw new UserError(
        `${printable(origin.name)} is rt ${version}, which is older than this, ${VERSION}`,
        "to go back all the same, add --allow-downgrade",
      );
  };
  return await inWorkspace(program, async (folder) => {
    const signed = sha256 === undefined ? await readSigned(origin) : undefined;
    if (signed) refuseOlder(signed.version);
    const draft = join(folder, basename(program));
    await unpack(origin, signed?.sum ?? sha256!, draft, program);
    const version = readVersion(draft);
    if (signed && version !== signed.version)
      throw new UserError(
        `${printable(origin.name)} says that it is rt ${version}, where ${signed.version} was signed`,
        "nothing was changed",
      );
    refuseOlder(version);
    swap(draft, program);
    return version;
  });
}

async function readSigned(origin: Origin) {
  const sums = await origin.readBeside(SUMS);
  return readRelease(origin.name, sums, await origin.readBeside(SIGNATURE), RELEASE_KEYS);
}

/** The checked program at `draft`, with the mode of the present one; it has not been run yet. */
async function unpack(origin: Origin, sum: string, draft: string, program: string): Promise<void> {
  const name = printable(origin.name);
  const bytes = await origin.read();
  const actual = createHash("sha256").update(bytes).digest("hex");
  if (actual !== sum)
    throw new UserError(
      `${name} is not what it should be: its SHA-256 is ${actual}, not ${sum}`,
      "nothing was changed; download it again",
    );
  using file = createDraft(draft);
  await extractProgram(origin.name, bytes, file.write);
  const format = readFormat(readHead(draft));
  const own = readFormat(readHead(program));
  if (!format) throw new UserError(`${name} is no program`, "name a release's archive, or its binary");
  if (describeFormat(format) !== describeFormat(own!))
    throw new UserError(
      `${name} is for ${describeFormat(format)}`,
      `this is ${describeFormat(own!)}: name the archive for that`,
    );
  file.finish(statSync(program).mode & 0o777);
}

/** Bytes of a program that say for which system it is. */
const HEAD = 1024 * 1024;

function readHead(path: string): Uint8Array {
  const file = openSync(path, "r");
  try {
    const head = Buffer.alloc(HEAD);
    return head.subarray(0, readSync(file, head));
  } finally {
    closeSync(file);
  }
}
