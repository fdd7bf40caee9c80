// Provides a signed release, and installs a separate rt for each test, which trusts the test key.
import { expect } from "bun:test";
import { createHash } from "node:crypto";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzip, tar, zip } from "../../build/release/archive.ts";
import { signContent } from "../../build/release/minisign.ts";
import manifest from "../../package.json";
import { createProject, type Project } from "../support/project.ts";
import { compileVersion, placeRt } from "../support/programs/programs.ts";
import { compileTrusting, TEST_KEY } from "../support/programs/release-key.ts";
import { type Environment, runRt, type RtResult } from "../support/rt.ts";

export const OLD = manifest.version;
export const NEW = "9.8.7";
export const ARCHIVE = "rt-9.8.7-linux-x64.tar.gz";

/** Creates a program that prints `NEW`, alone and in archives, with their checksums. */
export async function makeRelease(): Promise<Project> {
  const released = await createProject();
  await compileVersion(released.join("rt"), NEW);
  const program = await readFile(released.join("rt"));
  const content = { path: "rt-9.8.7-linux-x64/rt", content: program, isExecutable: true };
  const readme = { path: "rt-9.8.7-linux-x64/README.md", content: "read me" };
  const other = { path: "rt-9.8.7-linux-x64/art", content: "no program, though its name ends so" };
  await writeFile(released.join(ARCHIVE), gzip(tar([readme, other, content]), 1));
  await writeFile(released.join("rt.zip"), zip([readme, other, content], 1));
  // Its name ends like the program's, and it is listed first.
  await writeFile(released.join("not-rt"), "another file");
  await writeSums(released.path, ["not-rt", "rt", ARCHIVE, "rt.zip"]);
  return released;
}

/** Returns the start of a program for macOS on arm64. */
export function beginMacho(): Buffer {
  const macho = Buffer.alloc(2048);
  macho.writeUInt32LE(0xfeedfacf, 0);
  macho.writeUInt32LE(0x0100000c, 4);
  return macho;
}

/** Returns the start of a program for Windows on x64. */
export function beginPe(): Buffer {
  const pe = Buffer.alloc(2048);
  pe.write("MZ");
  pe.writeUInt32LE(128, 0x3c);
  pe.write("PE\0\0", 128);
  pe.writeUInt16LE(0x8664, 132);
  return pe;
}

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

export interface Signing {
  readonly secretKey?: string;
  readonly comment?: string;
  /** Second character between a checksum and a name; * marks a binary file. */
  readonly mark?: " " | "*";
  /** Writes checksums in upper case, as other tools do. */
  readonly isUpperCase?: boolean;
  /** Line ending. */
  readonly end?: "\n" | "\r\n";
}

/** Writes SHA256SUMS of these files and its signature. */
export async function writeSums(
  directory: string,
  names: readonly string[],
  {
    secretKey = TEST_KEY.secretKey,
    comment = `rt ${NEW}`,
    mark = " ",
    end = "\n",
    isUpperCase = false,
  }: Signing = {},
): Promise<void> {
  const lines = await Promise.all(
    names.map(async (name) => `${sha256(await readFile(join(directory, name)))} ${mark}${name}${end}`),
  );
  const sums = isUpperCase
    ? lines.join("").replaceAll(/^[0-9a-f]{64}/gm, (sum) => sum.toUpperCase())
    : lines.join("");
  await writeFile(join(directory, "SHA256SUMS"), sums);
  await writeFile(join(directory, "SHA256SUMS.minisig"), signContent(Buffer.from(sums), comment, secretKey));
}

/** Creates a directory with a separate rt. */
export async function installRt(env: Environment = {}): Promise<{
  home: Project;
  rt: string;
  upgrade(...args: string[]): Promise<RtResult>;
}> {
  const home = await createProject();
  await mkdir(home.join("bin"));
  const rt = home.join("bin", "rt");
  await placeRt(rt, await compileTrusting());
  return {
    home,
    rt,
    upgrade: (...args) => runRt({ program: [rt], args: ["upgrade", ...args], cwd: home.path, env }),
  };
}

export async function versionOf(path: string): Promise<string> {
  const { stdout } = await runRt({ program: [path], args: ["--version"] });
  return stdout.trim();
}

/** Returns whether two names are one file, as placeRt() creates them, or two files have the same content. */
async function isSameFile(one: string, other: string): Promise<boolean> {
  if ((await stat(one)).ino === (await stat(other)).ino) return true;
  return (await readFile(one)).equals(await readFile(other));
}

/** Checks that a failed upgrade has changed nothing. */
export async function expectUntouched(home: Project, rt: string): Promise<void> {
  expect(await isSameFile(rt, await compileTrusting())).toBe(true);
  const left = [...new Bun.Glob("*").scanSync({ cwd: home.join("bin"), dot: true, onlyFiles: false })];
  expect(left).toEqual(["rt"]);
}
