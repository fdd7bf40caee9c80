// Implements `rt upgrade <url|file>`, which replaces this executable with another version, and `rt upgrade --rollback`.
//
// Invariants:
// - rt downloads only from the URL that the user passes.
// - The new executable runs only after its SHA-256 matched SHA256SUMS, signed with a built-in key, or the user's --sha256.
// - It replaces this one only if it is for the same system, starts, and is not older unless --allow-downgrade is given.
// - On Linux and macOS a working rt exists under its name at every moment (atomic rename). The previous version is kept as
//   rt.previous.
import { createHash } from "node:crypto";
import { closeSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { errorMessage } from "../../../platform/caught-error.ts";
import { VERSION } from "../../version.ts";
import { extractProgram } from "./archive.ts";
import { RELEASE_KEYS } from "./release-keys.ts";
import { openOrigin, type Origin } from "./release-source.ts";
import { describeFormat, readFormat } from "./executable-format.ts";
import { readRelease, SIGNATURE, SUMS } from "./release.ts";
import { readVersion, restore, swap } from "./executable-swap.ts";
import { createDraft, withStagingDirectory } from "./staging-directory.ts";
import { UserError } from "../../user-error.ts";
import { printable } from "../../printable.ts";
import { printLine } from "../../output.ts";

/** Package managers that must do the upgrade if they installed rt. */
const PACKAGE_MANAGERS: ReadonlyArray<readonly [pattern: RegExp, name: string]> = [
  [/[\\/]node_modules[\\/]/, "npm"],
  [/[\\/]Cellar[\\/]/, "Homebrew"],
  [/[\\/]scoop[\\/]apps[\\/]/, "Scoop"],
];

export async function runUpgradeCommand(args: string[]): Promise<void> {
  const options = readArguments(args);
  const program = realpathSync(process.execPath);
  const [, manager] = PACKAGE_MANAGERS.find(([pattern]) => pattern.test(program)) ?? [];
  if (manager) throw new UserError(`${program} was installed by ${manager}`, `upgrade rt with ${manager}`);
  if (options.isRollback) {
    const version = await restore(program);
    return printLine(`Restored rt ${version} at ${program}`);
  }
  const version = await upgrade(program, options);
  printLine(`Replaced rt ${VERSION} with ${version} at ${program}`);
  printLine(`To restore ${VERSION}: rt upgrade --rollback`);
}

interface UpgradeArguments {
  readonly isRollback: boolean;
  readonly source: string;
  readonly sha256?: string;
  readonly mayBeOlder: boolean;
}

function readArguments(args: string[]): UpgradeArguments {
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
    const [message = ""] = errorMessage(error).split(/\.(?:\s|$)/, 1);
    throw new UserError(printable(message), "see rt help upgrade");
  }
  const { values, positionals } = parsed;
  const { sha256, rollback: isRollback, "allow-downgrade": mayBeOlder } = values;
  if (isRollback && (positionals.length > 0 || sha256 !== undefined || mayBeOlder))
    throw new UserError(
      "--rollback cannot be used with a file or another option",
      "to restore the previous version: rt upgrade --rollback",
    );
  if (isRollback) return { isRollback, source: "", mayBeOlder };
  if (positionals.length !== 1)
    throw new UserError(
      "rt upgrade needs one URL or file",
      "pass a release archive; to run a script of this name: rt run upgrade",
    );
  if (sha256 !== undefined && !/^[0-9a-f]{64}$/i.test(sha256))
    throw new UserError("The value of --sha256 is not a SHA-256", "pass 64 hexadecimal digits");
  return { isRollback, source: positionals[0]!, sha256: sha256?.toLowerCase(), mayBeOlder };
}

async function upgrade(program: string, { source, sha256, mayBeOlder }: UpgradeArguments): Promise<string> {
  const origin = openOrigin(source, sha256 !== undefined);
  if (sha256 === undefined && RELEASE_KEYS.length === 0)
    throw new UserError(
      "This rt was built without a key to verify releases",
      "pass the checksum with --sha256",
    );
  const refuseOlder = (version: string) => {
    if (!mayBeOlder && Bun.semver.order(version, VERSION) < 0)
      throw new UserError(
        `${printable(origin.name)} is rt ${version}, which is older than ${VERSION}`,
        "to install it anyway, add --allow-downgrade",
      );
  };
  return await withStagingDirectory(program, async (folder) => {
    const signed = sha256 === undefined ? await readSigned(origin) : undefined;
    if (signed) refuseOlder(signed.version);
    const draft = join(folder, basename(program));
    await unpack(origin, signed?.sum ?? sha256!, draft, program);
    const version = readVersion(draft);
    if (signed && version !== signed.version)
      throw new UserError(
        `${printable(origin.name)} reports version ${version}, but is signed as ${signed.version}`,
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

/** Writes the verified executable to `draft` with the mode of the current one. Does not run it. */
async function unpack(origin: Origin, sum: string, draft: string, program: string): Promise<void> {
  const name = printable(origin.name);
  const bytes = await origin.read();
  const actual = createHash("sha256").update(bytes).digest("hex");
  if (actual !== sum)
    throw new UserError(
      `Checksum mismatch for ${name}: its SHA-256 is ${actual}, expected ${sum}`,
      "nothing was changed; download it again",
    );
  using file = createDraft(draft);
  await extractProgram(origin.name, bytes, file.write);
  const format = readFormat(readHead(draft));
  const own = readFormat(readHead(program));
  if (!format) throw new UserError(`${name} is not an rt release`, "pass a release archive or binary");
  if (describeFormat(format) !== describeFormat(own!))
    throw new UserError(
      `${name} is for ${describeFormat(format)}`,
      `pass the archive for ${describeFormat(own!)}`,
    );
  file.finish(statSync(program).mode & 0o777);
}

/** Bytes at the start of an executable that are sufficient to read its format. */
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
