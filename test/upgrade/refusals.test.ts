// Inputs that `rt upgrade` rejects without changing anything.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmod, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { constants, deflateRawSync } from "node:zlib";
import { hasProgram } from "../../build/system-programs.ts";
import { gzip, tar, zip } from "../../build/release/archive.ts";
import { createKeyPair } from "../../build/release/minisign.ts";
import { RELEASE_KEYS } from "../../src/cli/upgrade/release-keys.ts";
import { readVersion } from "../../src/cli/upgrade/executable-swap.ts";
import { compileProgram, compileVersion, placeRt, PYTHON } from "../support/programs/programs.ts";
import { createProject, type Project } from "../support/project.ts";
import { compileTrusting } from "../support/programs/release-key.ts";
import { runRt } from "../support/rt.ts";
import { AS_OTHER_USER, isRoot } from "../support/users.ts";
import {
  ARCHIVE,
  beginMacho,
  beginPe,
  expectUntouched,
  installRt,
  makeRelease,
  NEW,
  OLD,
  sha256,
  type Signing,
  versionOf,
  writeSums,
} from "./release.ts";

let released: Project;
let program: Buffer;
beforeAll(async () => {
  released = await makeRelease();
  program = await readFile(released.join("rt"));
});
afterAll(async () => await released[Symbol.asyncDispose]());

/** Prefix for a command that mounts something, in a separate mount namespace. */
const OWN_MOUNTS = isRoot
  ? ["unshare", "-Ur", "-m"]
  : ["unshare", "-U", "-m", "--map-current-user", "--keep-caps"];

/** Returns an archive of 1 GiB of zeros; liar.zip claims a smaller size. */
function makeBomb(name: "bomb.tar.gz" | "bomb.zip" | "liar.zip"): Uint8Array {
  const GIBIBYTE = 2 ** 30;
  const unfinished = { finishFlush: constants.Z_FULL_FLUSH };
  const zeros = Array<Buffer>(1024).fill(deflateRawSync(Buffer.alloc(GIBIBYTE / 1024), unfinished));
  if (name === "bomb.tar.gz") {
    const header = Buffer.from(tar([{ path: "rt", content: "" }])).subarray(0, 512);
    header.write("10000000000\0", 124);
    header.fill(" ", 148, 156);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    const start = Buffer.from("1f8b08000000000000ff", "hex");
    return Buffer.concat([start, deflateRawSync(header, unfinished), ...zeros]);
  }
  const packed = Buffer.concat([...zeros, deflateRawSync(Buffer.alloc(0))]);
  const empty = Buffer.from(zip([{ path: "rt", content: "" }], 1));
  const central = empty.indexOf(Buffer.from("PK\x01\x02", "latin1"));
  const end = empty.length - 22;
  empty.writeUInt32LE(packed.length, central + 20);
  empty.writeUInt32LE(name === "liar.zip" ? 1000 : GIBIBYTE, central + 24);
  empty.writeUInt32LE(32 + packed.length, end + 16);
  return Buffer.concat([empty.subarray(0, 32), packed, empty.subarray(central)]);
}

describe("rt upgrade rejects invalid releases", () => {
  async function refuse(args: readonly string[], message: string | RegExp): Promise<void> {
    const { home, rt, upgrade } = await installRt();
    await using _ = home;
    const { stdout, stderr, status } = await upgrade(...args);
    const matched = typeof message === "string" ? message : expect.stringMatching(message);
    expect({ stdout, stderr, status }).toEqual({ stdout: "", stderr: matched, status: 1 });
    await expectUntouched(home, rt);
  }

  /** Creates a file with a signed list of checksums. */
  async function offer(name: string, content: Uint8Array | string, signing?: Signing): Promise<Project> {
    const project = await createProject({ [name]: content }, [name]);
    await writeSums(project.path, [name], signing);
    return project;
  }

  test("rt upgrade rejects a command line without a source", async () => {
    await refuse([], /^error: rt upgrade needs one URL or file\nhint: pass a release archive/);
    await refuse(["a", "b"], /^error: rt upgrade needs one URL/);
  });

  test("rt upgrade rejects unknown and conflicting options", async () => {
    await refuse(["--latest"], /^error: Unknown option '--latest'\nhint: see rt help upgrade/);
    for (const sum of ["12", "0".repeat(63), `g${"0".repeat(63)}`])
      await refuse(["--sha256", sum, "x"], /^error: The value of --sha256 is not a SHA-256\n/);
    await refuse(["--rollback", "x"], /^error: --rollback cannot be used with a file or another option\n/);
    await refuse(
      ["--rollback", "--allow-downgrade"],
      /^error: --rollback cannot be used with a file or another option\n/,
    );
  });

  test("rt upgrade rejects a release without a checksum", async () => {
    await using other = await createProject({ rt: program });
    await refuse([other.join("rt")], /^error: Cannot read \S+SHA256SUMS \(ENOENT\)\nhint: pass the checksum/);
  });

  test("rt upgrade rejects a missing, foreign or malformed signature", async () => {
    await using other = await createProject({ rt: program });
    const [sums, signature] = [other.join("SHA256SUMS"), other.join("SHA256SUMS.minisig")];
    await writeSums(other.path, ["rt"]);
    const good = await readFile(signature, "utf8");
    const refused = async (message: RegExp) => await refuse([other.join("rt")], message);

    await rm(signature);
    await refused(/^error: Cannot read \S+SHA256SUMS.minisig \(ENOENT\)\nhint: pass the checksum/);
    await writeFile(signature, good.slice(0, 100));
    await refused(/^error: SHA256SUMS.minisig is not a valid minisign signature\nhint: pass the checksum/);

    // The legacy kind, over the unhashed file. Its two-letter algorithm is not covered by the signature.
    const older = good.replace(/^.*$/m, "x").split("\n");
    older[1] = Buffer.from(Buffer.from(older[1]!, "base64").fill("Ed", 0, 2)).toString("base64");
    await writeFile(signature, older.join("\n").replace(/^x$/m, good.split("\n")[0]!));
    await refused(/^error: SHA256SUMS.minisig is not a valid minisign signature\nhint: pass the checksum/);

    await writeSums(other.path, ["rt"], { secretKey: createKeyPair().secretKey });
    await refused(/^error: SHA256SUMS is signed with the unknown key [0-9A-F]{16}\n/);

    const changed = /^error: Signature mismatch for SHA256SUMS\nhint: nothing was changed/;
    await writeFile(signature, good.replace(`rt ${NEW}`, "rt 9.9.9"));
    await refused(changed);
    await writeFile(signature, good);
    await writeFile(sums, `${await readFile(sums, "utf8")}\n`);
    await refused(changed);

    await writeSums(other.path, ["rt"], { comment: "a letter\x1b[2J" });
    await refused(/^error: SHA256SUMS is signed, but not for a release of rt: "a letter\\u001b\[2J"\n/);
    for (const comment of [`about rt ${NEW}`, `rt ${NEW} and more`, "rt 9.8"]) {
      await writeSums(other.path, ["rt"], { comment });
      await refused(new RegExp(`^error: SHA256SUMS is signed, but not for a release of rt: "${comment}"\n`));
    }
  });

  test("rt upgrade without a built-in key requires a checksum and does not trust the test key", async () => {
    await using home = await createProject();
    await placeRt(home.join("rt"));
    const upgrade = async (...args: string[]) =>
      await runRt({ program: [home.join("rt")], args: ["upgrade", released.join("rt"), ...args] });
    const { stderr, status } = await upgrade();
    expect({ stderr, status }).toEqual({
      stderr: expect.stringMatching(
        RELEASE_KEYS.length === 0
          ? /^error: This rt was built without a key .*\nhint: pass the checksum with --sha256\n$/
          : /^error: SHA256SUMS is signed with the unknown key [0-9A-F]{16}\n/,
      ),
      status: 1,
    });
    expect(await upgrade("--sha256", sha256(program))).toMatchObject({ stderr: "", status: 0 });
  });

  describe("rt upgrade to an older version", () => {
    const message = (version: string) =>
      `error: rt is rt ${version}, which is older than ${OLD}\nhint: to install it anyway, add --allow-downgrade\n`;

    test("rt upgrade rejects an older signed version before running it", async () => {
      await using other = await createProject();
      await compileProgram(other.join("rt"), `fclose(fopen("${other.join("ran")}", "w")); puts("0.0.9");`);
      await writeSums(other.path, ["rt"], { comment: "rt 0.0.9" });
      await refuse([other.join("rt")], message("0.0.9"));
      expect(await Bun.file(other.join("ran")).exists()).toBe(false);
    });

    test("rt upgrade rejects an older version by its own --version when a checksum is passed", async () => {
      await using other = await createProject();
      await compileVersion(other.join("rt"), "0.1.0-rc.1");
      await refuse(
        [other.join("rt"), "--sha256", sha256(await readFile(other.join("rt")))],
        message("0.1.0-rc.1"),
      );
    });

    test("rt upgrade rejects a program that reports another version than the signed one", async () => {
      await using other = await offer("rt", program, { comment: "rt 9.9.9" });
      await refuse(
        [other.join("rt")],
        `error: rt reports version ${NEW}, but is signed as 9.9.9\nhint: nothing was changed\n`,
      );
    });

    test("rt upgrade accepts the same version again", async () => {
      await using other = await createProject();
      await compileVersion(other.join("rt"), OLD);
      await writeSums(other.path, ["rt"], { comment: `rt ${OLD}` });
      const { home, rt, upgrade } = await installRt();
      await using _ = home;
      const { stdout, status } = await upgrade(other.join("rt"));
      expect({ stdout: stdout.split("\n")[0], status }).toEqual({
        stdout: `Replaced rt ${OLD} with ${OLD} at ${rt}`,
        status: 0,
      });
    });

    test("rt upgrade installs an older version with --allow-downgrade", async () => {
      await using other = await createProject();
      await compileVersion(other.join("rt"), "0.0.9");
      await writeSums(other.path, ["rt"], { comment: "rt 0.0.9" });
      const { home, rt, upgrade } = await installRt();
      await using _ = home;
      const { stdout, status } = await upgrade("--allow-downgrade", other.join("rt"));
      expect({ stdout: stdout.split("\n")[0], status }).toEqual({
        stdout: `Replaced rt ${OLD} with 0.0.9 at ${rt}`,
        status: 0,
      });
    });
  });

  test("rt upgrade rejects an http URL without a checksum", async () => {
    await refuse(["http://example.invalid/rt.tar.gz"], /^error: A download over http .*\nhint: use https/);
    await refuse(["http://127.0.0.1/rt.tar.gz"], /^error: A download over http .*\nhint: use https/);
    await refuse(["ftp://example.invalid/rt"], /^error: Unsupported URL "ftp:\S+"\n/);
  });

  test("rt upgrade omits the password of a URL in its messages", async () => {
    for (const [address, shown] of [
      ["http://me:pass@127.0.0.1:1/rt.zip", "error: Cannot download http://127.0.0.1:1/rt.zip ("],
      ["https://me:pass@127.0.0.1:1/rt%zz", 'error: Invalid percent encoding in "https://127.0.0.1:1/rt%zz"'],
      ["ftp://me:pass@127.0.0.1/rt", 'error: Unsupported URL "ftp://127.0.0.1/rt"'],
    ]) {
      const { home, upgrade } = await installRt();
      await using _ = home;
      const { stdout, stderr, status } = await upgrade(address!, "--sha256", "0".repeat(64));
      expect({ stdout, status }).toEqual({ stdout: "", status: 1 });
      expect(stderr).toStartWith(shown!);
      expect(stderr).not.toContain("pass");
    }
  });

  test("rt upgrade rejects a URL that cannot be decoded", async () => {
    await refuse(
      ["https://example.invalid/rt%zz.tar.gz"],
      /^error: Invalid percent encoding in "https:\S+"\nhint: write a % as %25\n$/,
    );
    await refuse(
      ["file:///a%2Fb.tar.gz"],
      /^error: "file:\S+" is not the URL of a local file\nhint: use its path/,
    );
  });

  test("rt upgrade rejects a missing file", async () => {
    await refuse([released.join("none")], /^error: Cannot read \S+none \(ENOENT\)\n$/);
    await refuse(
      [released.join("none"), "--sha256", "0".repeat(64)],
      /^error: Cannot read \S+none \(ENOENT\)\n$/,
    );
  });

  test("rt upgrade rejects a device and files above the size limit", async () => {
    await refuse(["/dev/zero"], "error: /dev/zero is not a file\n");
    await using other = await createProject({ "rt.zip": "" });
    await truncate(other.join("rt.zip"), 300 * 1024 * 1024);
    await refuse(
      [other.join("rt.zip")],
      /^error: \S+rt.zip is larger than 256 MB\nhint: nothing was changed/,
    );
    await using sums = await createProject({ rt: program });
    await writeSums(sums.path, ["rt"]);
    for (const name of ["SHA256SUMS.minisig", "SHA256SUMS"]) {
      await truncate(sums.join(name), 2 * 1024 * 1024);
      await refuse([sums.join("rt")], new RegExp(`^error: \\S+${name} is larger than 1 MB\\n`));
    }
  });

  test("rt upgrade rejects an archive with a link or device named rt", async () => {
    await using other = await createProject({ "x/other": "" });
    const inside = async (make: string, command: string, archive: string) => {
      await Bun.$`sh -c ${`rm -f x/rt && ${make} && ${command}`}`.cwd(other.path).quiet();
      await writeSums(other.path, [archive]);
      await refuse(
        [other.join(archive)],
        /^error: x\.\S+ contains a link or device named rt\nhint: nothing was/,
      );
    };
    const tarred = "tar -czf x.tar.gz x/other x/rt";
    await inside("ln -s other x/rt", tarred, "x.tar.gz");
    await inside("ln x/other x/rt", tarred, "x.tar.gz");
    await inside("mkfifo x/rt", tarred, "x.tar.gz");
    const linked = zip([{ path: "x/rt", content: "other" }], 1);
    const mode = Buffer.from(linked).indexOf(Buffer.from("PK\x01\x02", "latin1")) + 38;
    Buffer.from(linked.buffer).writeUInt32LE((0o120777 << 16) >>> 0, mode);
    await using zipFile = await offer("x.zip", linked);
    await refuse([zipFile.join("x.zip")], /^error: x.zip contains a link or device named rt\n/);
  });

  test("rt upgrade rejects damaged archives immediately", async () => {
    const header = (change: (block: Buffer) => void) => {
      const archive = Buffer.from(tar([{ path: "rt", content: "x".repeat(600) }]));
      change(archive);
      archive.fill(" ", 148, 156);
      const sum = archive.subarray(0, 512).reduce((total, byte) => total + byte, 0);
      archive.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
      return gzip(archive, 1);
    };
    const good = zip([{ path: "rt", content: "x".repeat(600) }], 1);
    const damaged: ReadonlyArray<readonly [name: string, bytes: Uint8Array, message: RegExp]> = [
      ["negative.tar.gz", header((block) => block.write("-0000001000", 124)), /its tar archive is damaged/],
      ["huge.tar.gz", header((block) => block.write("77777777777\0", 124)), /it is truncated/],
      ["sum.tar.gz", gzip(tar([{ path: "rt", content: "" }]).with(0, 0x73), 1), /its tar archive is damaged/],
      ["end.zip", good.subarray(0, -1), /cannot be unpacked/],
      ["content.zip", Buffer.from(good).fill(0, 34, 36), /cannot be unpacked/],
    ];
    for (const [name, bytes, message] of damaged) {
      await using other = await offer(name, bytes);
      await refuse(
        [other.join(name)],
        new RegExp(`^error: ${name} cannot be unpacked.*${message.source}|^error: ${name} ${message.source}`),
      );
    }
  });

  for (const [name, message] of [
    ["bomb.tar.gz", "error: bomb.tar.gz contains more than 512 MB\n"],
    ["bomb.zip", "error: bomb.zip contains more than 512 MB\n"],
    ["liar.zip", "error: liar.zip cannot be unpacked: its zip archive is damaged\n"],
  ] as const) {
    test(`rt upgrade rejects ${name} without more memory than a release needs`, async () => {
      await using other = await offer(name, makeBomb(name));
      const { home, rt } = await installRt();
      await using _ = home;
      const measure = `import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)`;
      const { stdout, stderr } = await runRt({
        program: [PYTHON, "-c", measure, rt],
        args: ["upgrade", other.join(name)],
      });
      const [status, megabytes] = stdout.split(" ").map(Number);
      expect({ stderr, status }).toEqual({ stderr: expect.stringContaining(message), status: 1 });
      expect(megabytes).toBeLessThan(250);
      await expectUntouched(home, rt);
    });
  }

  test.each(["a file system that is full", "files that may not grow"])(
    "rt upgrade stops at %s and removes its files",
    async (kind) => {
      const isFull = kind.includes("full");
      const { home, rt } = await installRt();
      await using _ = home;
      await using other = await createProject();
      await compileProgram(
        other.join("rt"),
        `static char fill[3000000] = {1}; puts("${NEW}"); return !fill[0];`,
      );
      await writeSums(other.path, ["rt"]);
      const size = Math.ceil((await stat(rt)).size / 1024) + 1024; // KiB
      const script = isFull
        ? `mount -t tmpfs -o size=${size}k none bin && cp "$1" bin/rt && "$0" upgrade "$2"; code=$?; ls -A bin >&2; exit $code`
        : `trap "" XFSZ; ulimit -f 4; "$0" upgrade "$2"; code=$?; ls -A bin >&2; exit $code`;
      const { stderr, status } = await runRt({
        program: [...(isFull ? OWN_MOUNTS : []), "bash", "-c", script, rt],
        args: [await compileTrusting(), other.join("rt")],
        cwd: home.path,
      });
      const reason = isFull
        ? "(ENOSPC)\nhint: nothing was changed; the disk is full"
        : "(EFBIG)\nhint: nothing was changed; the file size limit is too low (ulimit -f)";
      expect({ stderr, status }).toEqual({
        stderr: `error: Cannot write to ${home.join("bin")} ${reason}\nrt\n`,
        status: 1,
      });
      await expectUntouched(home, rt);
    },
  );

  test("rt upgrade rejects a file that is not an executable, and an archive without one", async () => {
    await using text = await offer("rt", "#!/bin/sh\necho 9.9.9\n");
    await refuse([text.join("rt")], /^error: rt is not an rt release\n/);
    await using empty = await offer("x.tar.gz", gzip(tar([{ path: "x/README.md", content: "x" }]), 1));
    await refuse([empty.join("x.tar.gz")], /^error: x.tar.gz does not contain rt\n/);
    await using cut = await offer("x.tar.gz", (await readFile(released.join(ARCHIVE))).subarray(0, 500));
    await refuse([cut.join("x.tar.gz")], /^error: x.tar.gz cannot be unpacked/);
  });

  test("rt upgrade rejects an executable for another system", async () => {
    const elf = (change: (bytes: Buffer) => void) => {
      const bytes = Buffer.from(program);
      change(bytes);
      return bytes;
    };
    const others: ReadonlyArray<readonly [Buffer, string]> = [
      [elf((bytes) => bytes.writeUInt16LE(0xb7, 18)), "Linux on arm64 with glibc"],
      [
        elf((bytes) => bytes.write("/lib/ld-musl-x86_64.so.1\0\0\0\0", bytes.indexOf("/lib64/ld-linux"))),
        "Linux on x64 with musl",
      ],
      [beginMacho(), "macOS on arm64"],
      [beginPe(), "Windows on x64"],
    ];
    for (const [bytes, system] of others) {
      await using other = await offer("rt", bytes);
      await refuse(
        [other.join("rt")],
        `error: rt is for ${system}\nhint: pass the archive for Linux on x64 with glibc\n`,
      );
    }
  });

  test("rt upgrade rejects a program that does not start or is not rt", async () => {
    const bodies = [
      ["return 3;", "exit code 3"],
      [`puts("${NEW}"); return 4;`, "exit code 4"],
      ["*(volatile int *)0 = 1;", "SIGSEGV"],
      ['puts("hello"); return 0;', "it printed no version"],
    ];
    for (const [body, reason] of bodies) {
      await using project = await createProject();
      await compileProgram(project.join("rt"), `${body} return 0;`);
      await writeSums(project.path, ["rt"]);
      await refuse(
        [project.join("rt")],
        `error: The new rt does not start on this machine (${reason})\nhint: nothing was changed\n`,
      );
    }
  });

  test("rt upgrade keeps the installed rt when the new program deletes itself", async () => {
    await using project = await createProject();
    await compileProgram(
      project.join("rt"),
      `char path[4096]; path[readlink("/proc/self/exe", path, 4095)] = 0; unlink(path); puts("${NEW}");`,
    );
    await writeSums(project.path, ["rt"]);
    await refuse([project.join("rt")], /^error: Cannot replace \S+bin\/rt \(ENOENT\)\n$/);
  });

  test("rt upgrade kills a program that prints no version in time", async () => {
    await using project = await createProject();
    await compileProgram(project.join("rt"), "signal(SIGTERM, SIG_IGN); for (;;) pause();");
    expect(() => readVersion(project.join("rt"), 200)).toThrow(
      expect.objectContaining({ message: "The new rt does not start on this machine (ETIMEDOUT)" }),
    );
  });

  test("rt upgrade --rollback keeps the previous version when the program cannot be replaced", async () => {
    const { home, rt } = await installRt();
    await using _ = home;
    await compileVersion(home.join("bin", "rt.previous"), "0.0.9");
    // A mount point cannot be renamed; in a container, rt may be a bind-mounted file.
    const script = 'mount --bind "$0" "$0" && exec "$0" upgrade --rollback';
    const { stderr, status } = await runRt({ program: [...OWN_MOUNTS, "sh", "-c", script, rt] });
    expect({ stderr, status }).toEqual({ stderr: `error: Cannot replace ${rt} (EBUSY)\n`, status: 1 });
    expect((await readdir(home.join("bin"))).toSorted()).toEqual(["rt", "rt.previous"]);
    expect([await versionOf(rt), await versionOf(home.join("bin", "rt.previous"))]).toEqual([OLD, "0.0.9"]);
  });

  test("rt upgrade --rollback fails without a previous version", async () => {
    await refuse(
      ["--rollback"],
      /^error: No previous version of \S+ exists\nhint: only rt upgrade creates one\n$/,
    );
  });

  test.each([
    ["node_modules/rt-runtime/bin", "npm"],
    ["Cellar/rt/0.1.0/bin", "Homebrew"],
    ["scoop/apps/rt/current", "Scoop"],
  ])("rt upgrade rejects an installation of a package manager: %s", async (folder, owner) => {
    await using home = await createProject({ [`${folder}/.keep`]: "" });
    const rt = home.join(folder, "rt");
    await placeRt(rt);
    for (const word of [released.join(ARCHIVE), "--rollback"]) {
      const { stderr, status } = await runRt({ program: [rt], args: ["upgrade", word] });
      expect({ stderr, status }).toEqual({
        stderr: `error: ${rt} was installed by ${owner}\nhint: upgrade rt with ${owner}\n`,
        status: 1,
      });
    }
  });

  test.skipIf(isRoot && !hasProgram("setpriv"))(
    "rt upgrade fails in a directory without write permission",
    async () => {
      const { home, rt } = await installRt();
      await using _ = home;
      for (const path of [home.path, released.path]) await chmod(path, 0o755);
      await chmod(home.join("bin"), 0o555);
      const { stderr, status } = await runRt({
        program: [...AS_OTHER_USER, rt],
        args: ["upgrade", released.join(ARCHIVE)],
        cwd: "/",
      });
      await chmod(home.join("bin"), 0o755);
      expect({ stderr, status }).toEqual({
        stderr: `error: Cannot write to ${home.join("bin")} (EACCES)\nhint: upgrade as the user who installed rt\n`,
        status: 1,
      });
    },
  );
});
