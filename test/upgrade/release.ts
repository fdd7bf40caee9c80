// A release to upgrade to, in a directory, and an rt of its own for each test to be replaced.
import { expect } from "bun:test";
import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzip, tar, zip } from "../../build/archive.ts";
import manifest from "../../package.json";
import { createProject, type Project } from "../support/project.ts";
import { compileVersion, placeRt } from "../support/programs.ts";
import { runRt, type RtResult } from "../support/rt.ts";

export const OLD = manifest.version;
export const NEW = "9.8.7";
export const ARCHIVE = "rt-9.8.7-linux-x64.tar.gz";

/** A program that says `NEW`, alone and in archives, with their checksums. */
export async function makeRelease(): Promise<Project> {
  const released = await createProject();
  await compileVersion(released.join("rt"), NEW);
  const program = await readFile(released.join("rt"));
  const content = { path: "rt-9.8.7-linux-x64/rt", content: program, isExecutable: true };
  const readme = { path: "rt-9.8.7-linux-x64/README.md", content: "read me" };
  await writeFile(released.join(ARCHIVE), gzip(tar([readme, content]), 1));
  await writeFile(released.join("rt.zip"), zip([readme, content], 1));
  await writeSums(released.path, ["rt", ARCHIVE, "rt.zip"]);
  return released;
}

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

export async function writeSums(directory: string, names: readonly string[]): Promise<void> {
  const lines = await Promise.all(
    names.map(async (name) => `${sha256(await readFile(join(directory, name)))}  ${name}\n`),
  );
  await writeFile(join(directory, "SHA256SUMS"), lines.join(""));
}

/** A directory with an rt of its own in it. */
export async function installRt(): Promise<{
  home: Project;
  rt: string;
  upgrade(...args: string[]): Promise<RtResult>;
}> {
  const home = await createProject();
  await mkdir(home.join("bin"));
  const rt = home.join("bin", "rt");
  await placeRt(rt);
  return {
    home,
    rt,
    upgrade: (...args) => runRt({ program: [rt], args: ["upgrade", ...args], cwd: home.path }),
  };
}

export async function versionOf(path: string): Promise<string> {
  const { stdout } = await runRt({ program: [path], args: ["--version"] });
  return stdout.trim();
}

/** What an upgrade that fails must leave. */
export async function expectUntouched(home: Project, rt: string): Promise<void> {
  expect(await versionOf(rt)).toBe(OLD);
  const left = [...new Bun.Glob("*").scanSync({ cwd: home.join("bin"), dot: true, onlyFiles: false })];
  expect(left).toEqual(["rt"]);
}
