// Finds the binary of `rt x` for a restricted run. A package that is not installed is fetched first, because the restricted process
// has no network.
//
// Invariants: lifecycle scripts of what is fetched do not run.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { host } from "../../../platform/processes/process.ts";
import { findOnPath } from "../../../platform/processes/program-search.ts";
import { trees } from "../../../platform/processes/process-tree.ts";
import { reportLine } from "../../output.ts";
import { oneLine } from "../../printable.ts";
import { UserError } from "../../user-error.ts";
import { type PackageJson, readPackageJson, recordField } from "../../workspace/package-json.ts";
import { findBinary } from "../resolve/resolution.ts";

const BINARIES = "node_modules/.bin";

interface ToolWords {
  /** The package to install; undefined if the words name nothing. */
  readonly spec?: string | undefined;
  readonly binary?: string | undefined;
  readonly args: readonly string[];
  /** Whether the version or the package is named, so that an installed binary may be another one. */
  readonly isExact: boolean;
  readonly isOffline: boolean;
}

/** The inner command line, and a folder in front of its PATH. */
interface FetchedBinary {
  readonly words: readonly string[];
  readonly folder: string;
}

/**
 * Fetches the package. Returns undefined for a binary that is installed, and for words that name none: the tool itself handles
 * both.
 * @param temporary folder that the restricted process can read @throws UserError
 */
export async function fetchPackageBinary(
  words: readonly string[],
  temporary: string,
): Promise<FetchedBinary | undefined> {
  const { spec, binary, args, isExact, isOffline } = readWords(words);
  if (spec === undefined || (!isExact && isInstalled(spec)) || isOffline) return undefined;
  const folder = join(temporary, "package");
  return { words: [await fetchBinary(spec, binary, folder), ...args], folder: join(folder, BINARIES) };
}

function isInstalled(name: string): boolean {
  if (findBinary(name, process.cwd()) !== undefined) return true;
  return findOnPath(name, { PATH: host.originalVariable("PATH") ?? "" }) !== null;
}

function readWords(words: readonly string[]): ToolWords {
  let [index, named, isOffline] = [0, undefined as string | undefined, false];
  for (; words[index]?.startsWith("-") && words[index] !== "--"; index += 1) {
    const [, inline] = /^(?:--package|-p)=(.*)$/s.exec(words[index]!) ?? [];
    if (inline !== undefined) named = inline;
    else if (words[index] === "-p" || words[index] === "--package") named = words[(index += 1)];
    else if (words[index] === "--no-install") isOffline = true;
  }
  if (words[index] === "--") index += 1;
  const name = words[index];
  const args = words.slice(index + 1);
  if (name === undefined) return { args, isExact: false, isOffline };
  const isExact = named !== undefined || /.@|[:/]/.test(name);
  return { spec: named ?? name, binary: named === undefined ? undefined : name, args, isExact, isOffline };
}

/** Returns the name of the binary. @throws UserError */
async function fetchBinary(spec: string, binary: string | undefined, folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true }');
  const child = trees.startChild({
    program: process.execPath,
    argv: ["rt", "add", "--ignore-scripts", "--no-summary", "--", spec],
    cwd: folder,
    env: host.originalEnvironment(),
    output: "separate",
    inheritStdin: false,
    onOutput: (bytes, isError) => void (isError && reportLine(new TextDecoder().decode(bytes).trimEnd())),
  });
  const { code } = await child.done;
  if (code !== 0) throw new UserError(`The package "${oneLine(spec)}" cannot be fetched`, undefined, code);
  const [name] = Object.keys(recordField(readPackageJson(folder) ?? {}, "dependencies"));
  const found = name === undefined ? null : readPackageJson(join(folder, "node_modules", name));
  const wanted = binary ?? (found && mainBinary(found, name!));
  if (!wanted || !existsSync(join(folder, BINARIES, wanted)))
    throw new UserError(
      `The package "${oneLine(spec)}" has no binary "${oneLine(binary ?? spec)}"`,
      "name it: rt x -p <package> <binary>",
    );
  return wanted;
}

/** The only binary, or the one with the name of the package. */
function mainBinary(manifest: PackageJson, name: string): string | undefined {
  const short = name.slice(name.lastIndexOf("/") + 1);
  if (typeof manifest.bin === "string") return short;
  const names = Object.keys(recordField(manifest, "bin"));
  return names.length === 1 ? names[0] : names.find((each) => each === short);
}
