// Builds the downloads for any system on one machine:
// - `npm run build`: the host's binary, at dist/rt
// - `npm run build -- --all`: a complete release, at dist/release
// - `npm run build -- --target linux-x64`: one target (repeatable)
// - `npm run build -- --all --url <address>`: with installers for this address, see docs/releasing.md
// - `npm run build -- --all --sign <identity>`: signs the macOS programs with this identity, on a Mac
//
// Releases of the same source have the same bytes wherever they are built.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { errorMessage } from "../platform/caught-error.ts";
import { renderManual } from "./docs/man-page.ts";
import { COMPLETIONS } from "../src/cli/help/embedded-texts.ts";
import { renderSchema } from "../src/config/command/schema.ts";
import { RELEASE_KEYS } from "../src/cli/upgrade/release-keys.ts";
import { type ArchiveFile, type Effort, gzip, tar, zip } from "./release/archive.ts";
import { describeContents, readComponents, renderNotices } from "./release/sbom.ts";
import { compile, DIST } from "./compile.ts";
import { checkEngine } from "./engine.ts";
import { debianPackage } from "./packages/debian.ts";
import { fillInstaller } from "./packages/fill-installer.mjs";
import { signWithIdentity } from "./macos/sign.ts";
import { homebrewFormula, scoopManifest } from "./packages/manifests.ts";
import { npmMainPackage, npmPlatformPackage } from "./packages/npm.ts";
import { PRODUCT } from "./product.ts";
import { CHECKSUMS, NPM_FILE, RELEASE_FILES, SCHEMA, type ReleaseFiles } from "./release/release-files.ts";
import { hostTarget, TARGETS } from "./targets.ts";

const ROOT = join(import.meta.dir, "..");

/** Maximum size of a binary beyond the engine's; docs/releasing.md lists what it consists of. */
export const MOST_ADDED = 10_000_000; // bytes

export interface ReleaseSettings {
  readonly names: readonly string[];
  readonly directory: string;
  /** Base URL of the releases. */
  readonly url?: string;
  readonly effort: Effort;
  /** Signing identity on macOS; without it signatures are ad hoc. */
  readonly identity?: string;
}

async function readDocuments(): Promise<ArchiveFile[]> {
  const names = new Map(["README.md", "LICENSE"].map((path) => [path, path]));
  for (const path of Object.values(COMPLETIONS)) names.set(`completions/${basename(path)}`, path);
  const files = Array.from(names, async ([path, source]) => ({
    path,
    content: await readFile(join(ROOT, source)),
  }));
  return [...(await Promise.all(files)), { path: "man/rt.1", content: renderManual() }];
}

export interface BuiltTarget {
  readonly name: string;
  readonly size: number;
  readonly added: number;
}

async function releaseTarget(
  files: ReleaseFiles,
  documents: readonly ArchiveFile[],
  { directory, effort, identity }: ReleaseSettings,
): Promise<BuiltTarget> {
  const { target, folder, archive, app, bom, npm, debian } = files;
  const write = (name: string, content: Uint8Array | string) => writeFile(join(directory, name), content);
  const binary = join(directory, `${folder}.binary`);
  const { inputs } = await compile(target, binary);
  if (identity && app) await write(app, zip(await signWithIdentity(binary, identity, directory), effort));
  const program = await readFile(binary);
  await rm(binary);
  const { size } = await checkEngine(target);
  const added = program.length - size;
  if (added > MOST_ADDED) throw new Error(`The binary for ${target.name} adds ${added} bytes to the engine`);
  const components = readComponents(inputs);
  const notices = { path: "THIRD-PARTY.txt", content: renderNotices(components) };
  const content = [
    { path: target.file, content: program, isExecutable: true },
    notices,
    ...documents,
  ] satisfies ArchiveFile[];
  const inFolder = content.map((file) => ({ ...file, path: `${folder}/${file.path}` }));
  await write(archive, target.os === "windows" ? zip(inFolder, effort) : gzip(tar(inFolder), effort));
  await write(bom, describeContents(target, program, components));
  await write(npm.file, gzip(tar(npmPlatformPackage(files, program, [notices])), effort));
  if (debian) await write(debian.file, debianPackage(debian.architecture, content, effort));
  return { name: target.name, size: program.length, added };
}

async function checksumsOf(directory: string, names: readonly string[]): Promise<Map<string, string>> {
  const sums = new Map<string, string>();
  for (const name of names.toSorted()) {
    const path = join(directory, name);
    if (!existsSync(path)) continue;
    sums.set(
      name,
      createHash("sha256")
        .update(await readFile(path))
        .digest("hex"),
    );
  }
  return sums;
}

/** The scripts contain the download address, if it is known, and the trusted keys. */
async function writeInstallers(directory: string, url: string | undefined): Promise<void> {
  for (const name of ["install.sh", "install.ps1"] as const)
    await writeFile(join(directory, name), fillInstaller(name, RELEASE_KEYS, url), { mode: 0o755 });
}

export async function buildRelease(
  settings: ReleaseSettings,
  report: (built: BuiltTarget) => void = () => {},
): Promise<void> {
  const { directory, names, url, effort } = settings;
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  const documents = await readDocuments();
  for (const files of RELEASE_FILES)
    if (names.includes(files.target.name)) report(await releaseTarget(files, documents, settings));
  const main = npmMainPackage(documents.filter(({ path }) => !path.includes("/")));
  await writeFile(join(directory, NPM_FILE), gzip(tar(main), effort));
  await writeInstallers(directory, url);
  await writeFile(join(directory, SCHEMA), `${renderSchema()}\n`);
  const all = RELEASE_FILES.flatMap(({ archive, app, bom, npm, debian }) => [
    archive,
    ...(app ? [app] : []),
    bom,
    npm.file,
    ...(debian ? [debian.file] : []),
  ]);
  const sums = await checksumsOf(directory, [...all, NPM_FILE, SCHEMA, "install.sh", "install.ps1"]);
  const lines = [...sums].map(([name, sum]) => `${sum}  ${name}\n`);
  await writeFile(join(directory, CHECKSUMS), lines.join(""));
  if (url && names.length === TARGETS.length) {
    await writeFile(join(directory, `${PRODUCT.package}.rb`), homebrewFormula(url, sums));
    await writeFile(join(directory, `${PRODUCT.package}.json`), scoopManifest(url, sums));
  }
}

function inMegabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(2);
}

async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      all: { type: "boolean", default: false },
      target: { type: "string", multiple: true, default: [] },
      url: { type: "string" },
      sign: { type: "string" },
    },
  });
  const { all, target: requested, url, sign: identity } = values;
  const known = TARGETS.map(({ name }) => name);
  const unknown = requested.find((name) => !known.includes(name));
  if (unknown) throw new Error(`There is no target "${unknown}"; the targets are: ${known.join(", ")}`);
  if (url !== undefined && !/^https?:\/\/\S+$/.test(url)) throw new Error(`"${url}" is no address`);
  const names = all ? known : requested;
  if (names.length === 0) {
    const host = hostTarget();
    await compile(host, join(DIST, host.file));
    return;
  }
  const directory = join(DIST, "release");
  console.log(`${"target".padEnd(18)}${"MB".padStart(8)}${"of them rt".padStart(12)}`);
  await buildRelease({ names, directory, url, identity, effort: 9 }, ({ name, size, added }) => {
    console.log(`${name.padEnd(18)}${inMegabytes(size).padStart(8)}${inMegabytes(added).padStart(12)}`);
  });
  console.log(`\nThe release is at ${directory}`);
  console.log("It is not signed yet: npm run release-key -- sign dist/release");
  if (!url) console.log("Without --url there is no formula for Homebrew and no manifest for Scoop");
}

if (import.meta.main) {
  try {
    await run(process.argv.slice(2));
  } catch (error) {
    const causes = error instanceof AggregateError ? (error.errors as readonly unknown[]) : [];
    console.error([`error: ${errorMessage(error)}`, ...causes.map(String)].join("\n"));
    process.exitCode = 1;
  }
}
