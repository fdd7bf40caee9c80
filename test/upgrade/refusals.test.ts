// What `rt upgrade` refuses, and that it then changes nothing.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmod, readFile } from "node:fs/promises";
import { gzip, tar } from "../../build/archive.ts";
import { compileProgram, placeRt } from "../support/programs.ts";
import { createProject, type Project } from "../support/project.ts";
import { runRt } from "../support/rt.ts";
import { AS_OTHER, isRoot } from "../support/users.ts";
import { ARCHIVE, expectUntouched, installRt, makeRelease, writeSums } from "./release.ts";

let released: Project;
let program: Buffer;
beforeAll(async () => {
  released = await makeRelease();
  program = await readFile(released.join("rt"));
});
afterAll(async () => await released[Symbol.asyncDispose]());

describe("rt upgrade refuses", () => {
  async function refuse(args: readonly string[], message: string | RegExp): Promise<void> {
    const { home, rt, upgrade } = await installRt();
    await using _ = home;
    const { stdout, stderr, status } = await upgrade(...args);
    const matched = typeof message === "string" ? message : expect.stringMatching(message);
    expect({ stdout, stderr, status }).toEqual({ stdout: "", stderr: matched, status: 1 });
    await expectUntouched(home, rt);
  }

  /** A file with its checksum beside it. */
  async function offer(name: string, content: Uint8Array | string): Promise<Project> {
    const project = await createProject({ [name]: content }, [name]);
    await writeSums(project.path, [name]);
    return project;
  }

  test("to start without being told from where", async () => {
    await refuse(
      [],
      /^error: An upgrade needs one URL or file to come from\nhint: rt fetches nothing by itself/,
    );
    await refuse(["a", "b"], /^error: An upgrade needs one URL/);
  });

  test("options that it does not have, and ones that do not go together", async () => {
    await refuse(["--latest"], /^error: Unknown option '--latest'\nhint: rt help upgrade/);
    await refuse(["--sha256", "12", "x"], /^error: --sha256 is not a SHA-256\n/);
    await refuse(["--rollback", "x"], /^error: --rollback takes nothing else\n/);
  });

  test("what has no checksum", async () => {
    await using other = await createProject({ rt: program });
    await refuse([other.join("rt")], /^error: Cannot read \S+SHA256SUMS \(ENOENT\)\nhint: give the checksum/);
  });

  test("a checksum that came over a network without protection", async () => {
    await refuse(["http://example.invalid/rt.tar.gz"], /^error: Over http, .*\nhint: use https/);
    await refuse(["ftp://example.invalid/rt"], /^error: "ftp:\S+" is no address that rt can fetch from\n/);
  });

  test("an address that stands for nothing", async () => {
    await refuse(
      ["https://example.invalid/rt%zz.tar.gz"],
      /^error: "https:\S+" is no address .*\nhint: write a % as %25\n$/,
    );
    await refuse(
      ["file:///a%2Fb.tar.gz"],
      /^error: "file:\S+" is no address of a file here\nhint: give its path/,
    );
  });

  test("a file that is not there", async () => {
    await refuse([released.join("none")], /^error: Cannot read \S+none \(ENOENT\)\n$/);
    await refuse(
      [released.join("none"), "--sha256", "0".repeat(64)],
      /^error: Cannot read \S+none \(ENOENT\)\n$/,
    );
  });

  test("what is no program, and archives without one", async () => {
    await using text = await offer("rt", "#!/bin/sh\necho 9.9.9\n");
    await refuse([text.join("rt")], /^error: rt is no program\n/);
    await using empty = await offer("x.tar.gz", gzip(tar([{ path: "x/README.md", content: "x" }]), 1));
    await refuse([empty.join("x.tar.gz")], /^error: There is no rt in x.tar.gz\n/);
    await using cut = await offer("x.tar.gz", (await readFile(released.join(ARCHIVE))).subarray(0, 500));
    await refuse([cut.join("x.tar.gz")], /^error: x.tar.gz cannot be unpacked\n/);
  });

  test("a program of another system", async () => {
    const elf = (change: (bytes: Buffer) => void) => {
      const bytes = Buffer.from(program);
      change(bytes);
      return bytes;
    };
    const macho = Buffer.alloc(2048);
    macho.writeUInt32LE(0xfeedfacf, 0);
    macho.writeUInt32LE(0x0100000c, 4);
    const pe = Buffer.alloc(2048);
    pe.write("MZ");
    pe.writeUInt32LE(128, 0x3c);
    pe.write("PE\0\0", 128);
    pe.writeUInt16LE(0x8664, 132);
    const others: ReadonlyArray<readonly [Buffer, string]> = [
      [elf((bytes) => bytes.writeUInt16LE(0xb7, 18)), "Linux on arm64 with glibc"],
      [
        elf((bytes) => bytes.write("/lib/ld-musl-x86_64.so.1\0\0\0\0", bytes.indexOf("/lib64/ld-linux"))),
        "Linux on x64 with musl",
      ],
      [macho, "macOS on arm64"],
      [pe, "Windows on x64"],
    ];
    for (const [bytes, system] of others) {
      await using other = await offer("rt", bytes);
      await refuse(
        [other.join("rt")],
        `error: rt is for ${system}\nhint: this is Linux on x64 with glibc: name the archive for that\n`,
      );
    }
  });

  test("a program that does not start, or is something else", async () => {
    const bodies = [
      ["return 3;", "exit code 3"],
      ["*(volatile int *)0 = 1;", "SIGSEGV"],
      ['puts("hello"); return 0;', "it says no version"],
    ];
    for (const [body, reason] of bodies) {
      await using project = await createProject();
      await compileProgram(project.join("rt"), `${body} return 0;`);
      await writeSums(project.path, ["rt"]);
      await refuse(
        [project.join("rt")],
        `error: The new rt does not start here (${reason})\nhint: nothing was changed\n`,
      );
    }
  });

  test("to go back where nothing was before", async () => {
    await refuse(["--rollback"], /^error: There is no earlier rt beside \S+\nhint: an upgrade leaves one\n$/);
  });

  test("to touch what a package manager has installed", async () => {
    await using home = await createProject({ "node_modules/rt-runtime/bin/.keep": "" });
    const rt = home.join("node_modules/rt-runtime/bin/rt");
    await placeRt(rt);
    const { stderr, status } = await runRt({ program: [rt], args: ["upgrade", released.join(ARCHIVE)] });
    expect({ stderr, status }).toEqual({
      stderr: `error: ${rt} was installed by npm\nhint: upgrade it with npm as well\n`,
      status: 1,
    });
  });

  test.skipIf(isRoot && !Bun.which("setpriv"))("a place that it may not write to", async () => {
    const { home, rt } = await installRt();
    await using _ = home;
    await chmod(home.path, 0o755);
    await chmod(home.join("bin"), 0o555);
    const { stderr, status } = await runRt({
      program: [...AS_OTHER, rt],
      args: ["upgrade", released.join(ARCHIVE)],
      cwd: "/",
    });
    await chmod(home.join("bin"), 0o755);
    expect({ stderr, status }).toEqual({
      stderr: `error: Cannot write to ${home.join("bin")} (EACCES)\nhint: whoever installed rt there can upgrade it\n`,
      status: 1,
    });
  });
});
