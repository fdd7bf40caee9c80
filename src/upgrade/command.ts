// `rt upgrade <url|file>`: exchanges this program for another version of it, and `rt upgrade --rollback` undoes that.
//
// Contract: rt fetches nothing that the user has not named. Nothing is run before its checksum is right, and this
// program is replaced only by one that is for the same system and starts. At every moment there is a working rt under its
// name. The one before stays beside it, as rt.previous.
//
// A checksum comes from --sha256, or from a SHA256SUMS beside the file. What comes over plain http, where both could have
// been exchanged on the way, needs --sha256.
import { createHash } from "node:crypto";
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { VERSION } from "../version.ts";
import { extractProgram } from "./archive.ts";
import { CONNECTION } from "./connection.ts";
import { describeFormat, readFormat } from "./program-format.ts";
import { readVersion, restore, swap } from "./replace.ts";
import { Failure } from "../failure.ts";

const SUMS = "SHA256SUMS";

/** Who else may have put rt where it is, and does upgrades there. */
const OWNERS: ReadonlyArray<readonly [pattern: RegExp, name: string]> = [
  [/[\\/]node_modules[\\/]/, "npm"],
  [/[\\/]Cellar[\\/]/, "Homebrew"],
  [/[\\/]scoop[\\/]apps[\\/]/, "Scoop"],
];

export async function runUpgradeCommand(args: string[]): Promise<void> {
  const { source, sha256, isRollback } = readWords(args);
  const program = realpathSync(process.execPath);
  const [, owner] = OWNERS.find(([pattern]) => pattern.test(program)) ?? [];
  if (owner) throw new Failure(`${program} was installed by ${owner}`, `upgrade it with ${owner} as well`);
  if (isRollback) {
    const version = restore(program);
    return console.log(`rt is ${version} again, at ${program}`);
  }
  const version = await upgrade(program, source!, sha256);
  console.log(`rt ${VERSION} is now ${version}, at ${program}`);
  console.log(`rt upgrade --rollback brings ${VERSION} back`);
}

interface Words {
  readonly source?: string;
  readonly sha256?: string;
  readonly isRollback: boolean;
}

function readWords(args: string[]): Words {
  let parsed;
  try {
    parsed = parseArgs({
      args,
      options: { sha256: { type: "string" }, rollback: { type: "boolean", default: false } },
      allowPositionals: true,
    });
  } catch (error) {
    const [message = ""] = (error as Error).message.split(/\.(?:\s|$)/, 1);
    throw new Failure(message, "rt help upgrade shows what there is");
  }
  const { values, positionals } = parsed;
  const { sha256, rollback: isRollback } = values;
  if (isRollback && (positionals.length > 0 || sha256 !== undefined))
    throw new Failure("--rollback takes nothing else", "it brings back the version before this one");
  if (isRollback) return { isRollback };
  if (positionals.length !== 1)
    throw new Failure(
      "An upgrade needs one URL or file to come from",
      "rt fetches nothing by itself; a script of this name is started with rt run upgrade",
    );
  if (sha256 !== undefined && !/^[0-9a-f]{64}$/i.test(sha256))
    throw new Failure("--sha256 is not a SHA-256", "it has 64 hexadecimal digits");
  return { source: positionals[0]!, sha256: sha256?.toLowerCase(), isRollback };
}

async function upgrade(program: string, source: string, sha256: string | undefined): Promise<string> {
  const directory = makeWorkspace(program);
  try {
    const { bytes, name, sum } = await fetchSource(source, sha256);
    const actual = createHash("sha256").update(bytes).digest("hex");
    if (actual !== sum)
      throw new Failure(
        `${name} is not what it should be: its SHA-256 is ${actual}, not ${sum}`,
        "nothing was changed; download it again",
      );
    const content = extractProgram(name, bytes);
    const format = readFormat(content);
    const own = readFormat(readFileSync(program));
    if (!format) throw new Failure(`${name} is no program`, "name a release's archive, or its binary");
    if (describeFormat(format) !== describeFormat(own!))
      throw new Failure(
        `${name} is for ${describeFormat(format)}`,
        `this is ${describeFormat(own!)}: name the archive for that`,
      );
    const draft = join(directory, basename(program));
    writeFileSync(draft, content);
    chmodSync(draft, statSync(program).mode & 0o777);
    const version = readVersion(draft);
    swap(draft, program);
    return version;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** On the same file system as the program, which it must be possible to replace. */
function makeWorkspace(program: string): string {
  try {
    return mkdtempSync(join(dirname(program), ".rt-upgrade-"));
  } catch (error) {
    throw new Failure(
      `Cannot write to ${dirname(program)} (${(error as NodeJS.ErrnoException).code})`,
      "whoever installed rt there can upgrade it",
    );
  }
}

interface Source {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly sum: string;
}

async function fetchSource(source: string, sha256: string | undefined): Promise<Source> {
  const isAddress = /^[a-z][a-z0-9+.-]+:\/\//i.test(source);
  const url = isAddress ? parseAddress(source) : undefined;
  if (!url || url.protocol === "file:") {
    const path = url ? pathOf(url) : resolve(source);
    const name = basename(path);
    const bytes = readLocal(path, false);
    const sum = sha256 ?? findSum(readLocal(join(dirname(path), SUMS), true).toString(), name);
    return { name, bytes, sum };
  }
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  if (url.protocol === "http:" && !isLocal && sha256 === undefined)
    throw new Failure(
      "Over http, the file and its checksum could both have been exchanged",
      "use https, or give the checksum with --sha256",
    );
  const name = nameOf(url);
  const sum = sha256 ?? findSum(Buffer.from(await download(new URL(SUMS, url), true)).toString(), name);
  return { name, bytes: await download(url, false), sum };
}

function parseAddress(source: string): URL {
  const url = URL.parse(source);
  if (!url || !["http:", "https:", "file:"].includes(url.protocol))
    throw new Failure(`"${source}" is no address that rt can fetch from`, "use https, or a file");
  return url;
}

/** The last part of an address, as a file is named; throws for an address that stands for no text. */
function nameOf(url: URL): string {
  try {
    return decodeURIComponent(url.pathname.split("/").at(-1)!);
  } catch {
    throw new Failure(`"${url.href}" is no address that rt can fetch from`, "write a % as %25");
  }
}

function pathOf(url: URL): string {
  try {
    return Bun.fileURLToPath(url);
  } catch {
    throw new Failure(`"${url.href}" is no address of a file here`, "give its path instead");
  }
}

const WITHOUT_SUMS = "give the checksum with --sha256, or put SHA256SUMS beside the file";

function readLocal(path: string, isSums: boolean): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code;
    throw new Failure(`Cannot read ${path} (${reason})`, isSums ? WITHOUT_SUMS : undefined);
  }
}

async function download(url: URL, isSums: boolean): Promise<Uint8Array> {
  let response;
  try {
    response = await fetch(url, CONNECTION);
    if (response.ok) return await response.bytes();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Failure(`Cannot download ${url.href} (${code ?? message})`, "nothing was changed");
  }
  throw new Failure(
    `Cannot download ${url.href} (status ${response.status})`,
    isSums ? WITHOUT_SUMS : undefined,
  );
}

function findSum(sums: string, name: string): string {
  for (const line of sums.split("\n")) {
    const [, sum, file] = /^([0-9a-f]{64}) [ *](.+?)\r?$/i.exec(line) ?? [];
    if (file === name) return sum!.toLowerCase();
  }
  throw new Failure(`${SUMS} has no checksum of ${name}`, "give it with --sha256");
}
