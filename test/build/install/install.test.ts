// Tests install.sh in dash with a local server: valid and invalid releases, curl and wget, and each program that can
// check a signature.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmod, mkdir, readdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { findProgram } from "../../../build/system-programs.ts";
import { startBrokenServer } from "../../support/servers/broken-server.ts";
import { placeRt } from "../../support/programs/programs.ts";
import { createProject, type Project } from "../../support/project.ts";
import { cleanEnvironment, runRt } from "../../support/rt.ts";
import { AS_OTHER_USER } from "../../support/users.ts";
import { archiveOf, INSTALLER, type InstallSite, openInstallSite, sha256 } from "./install-site.ts";

let site: InstallSite;
beforeAll(async () => {
  site = await openInstallSite();
});
afterAll(() => site[Symbol.asyncDispose]());

async function versionIn(directory: string): Promise<string> {
  return (await runRt({ program: [join(directory, "rt")], args: ["--version"] })).stdout.trim();
}

describe.skipIf(process.platform === "win32")("install.sh", () => {
  test("passes shellcheck as a portable script", async () => {
    const { stdout } = await Bun.$`shellcheck --shell=sh --enable=check-unassigned-uppercase ${INSTALLER}`
      .nothrow()
      .quiet();
    expect(stdout.toString()).toBe("");
  });

  test("installs the latest version in the user's directory, and prints how to add it to PATH", async () => {
    const directory = site.user.join(".local/bin");
    expect(await site.install("good")).toEqual({
      stdout: [
        `Downloading ${site.url}/good/latest/download/${archiveOf("2.0.0")}`,
        `Installed rt 2.0.0 at ${directory}/rt`,
        `Put it on your PATH:  echo 'export PATH="${directory}:$PATH"' >> ~/.profile`,
        "",
      ].join("\n"),
      stderr: "",
      status: 0,
    });
    expect(await readdir(directory)).toEqual(["rt"]);
    expect(await versionIn(directory)).toBe("2.0.0");
  });

  test("prints the PATH command of each shell, and none when rt is on PATH", async () => {
    await using home = await createProject();
    const directory = home.join("bin");
    const pathHints = async (env: Record<string, string | undefined>) => {
      const { stdout } = await site.install("good", { args: ["--dir", directory], env });
      return stdout.trim().split("\n").slice(2);
    };
    const { PATH } = cleanEnvironment();
    expect(await pathHints({ SHELL: "/usr/bin/fish" })).toEqual([
      `Put it on your PATH:  fish_add_path ${directory}`,
    ]);
    expect((await pathHints({ SHELL: "/bin/zsh" }))[0]).toEndWith(">> ~/.zshrc");
    expect((await pathHints({ SHELL: undefined }))[0]).toEndWith(">> ~/.profile");
    expect(await pathHints({ PATH: `${directory}:${PATH}` })).toEqual([]);
  });

  test("installs a version and uses a directory from options or variables", async () => {
    await using home = await createProject();
    const directory = home.join("a directory");
    expect(await site.install("good", { args: ["--version", "1.5.0", "--dir", directory] })).toMatchObject({
      stderr: "",
      status: 0,
    });
    expect(await versionIn(directory)).toBe("1.5.0");
    const env = { RT_VERSION: "v1.5.0", RT_DIR: home.join("b"), RT_URL: `${site.url}/good/` };
    expect(await site.install("", { env })).toMatchObject({ stderr: "", status: 0 });
    expect(await versionIn(home.join("b"))).toBe("1.5.0");
  });

  test("replaces a running rt", async () => {
    await using home = await createProject({
      "wait.ts": 'console.log("up"); await Bun.stdin.text(); console.log("done");',
    });
    await mkdir(home.join("bin"));
    await placeRt(home.join("bin/rt"));
    const child = Bun.spawn([home.join("bin/rt"), "wait.ts"], {
      cwd: home.path,
      stdin: "pipe",
      stdout: "pipe",
    });
    const output = child.stdout.getReader();
    expect(Buffer.from((await output.read()).value!).toString()).toBe("up\n");
    expect(await site.install("good", { args: ["--dir", home.join("bin")] })).toMatchObject({
      stderr: "",
      status: 0,
    });
    await child.stdin.end();
    expect(Buffer.from((await output.read()).value!).toString()).toBe("done\n");
    expect(await child.exited).toBe(0);
    expect(await versionIn(home.join("bin"))).toBe("2.0.0");
  });

  /** Returns a PATH with only these programs. */
  async function pathWith(project: Project, names: readonly string[]): Promise<string> {
    await mkdir(project.join("path"));
    for (const name of names) await symlink(findProgram(name), project.join("path", name));
    return project.join("path");
  }

  const BASICS = [
    "uname",
    "getconf",
    "mkdir",
    "mktemp",
    "rm",
    "mv",
    "tar",
    "gzip",
    "grep",
    "head",
    "cut",
    "cat",
    "tr",
  ];

  const CHECKERS = {
    openssl: ["openssl", "tail", "wget"],
    minisign: ["minisign", "sha256sum", "curl"],
    "ssh-keygen": ["ssh-keygen", "sha256sum", "curl"],
  };
  for (const [checker, programs] of Object.entries(CHECKERS)) {
    describe(`install.sh with ${checker} and ${programs.at(-1)}`, () => {
      const run = async (release: string, ...args: string[]) => {
        await using home = await createProject();
        const path = await pathWith(home, [...BASICS, ...programs]);
        const result = await runRt({
          program: [findProgram("dash"), site.script],
          args: ["--url", `${site.url}/${release}`, "--dir", home.join("bin"), ...args],
          env: { HOME: home.path, PATH: path, ...site.trusting() },
        });
        const installed = await Bun.file(home.join("bin/rt")).exists();
        return { ...result, installed };
      };

      test("accepts a signature by any of its keys", async () => {
        for (const release of ["good", "next"])
          expect(await run(release)).toMatchObject({ stderr: "", status: 0, installed: true });
      });

      test("rejects a foreign, wrong or missing signature", async () => {
        const message = "error: SHA256SUMS is not signed with a key that this script knows\n";
        for (const release of ["strange", "resigned"]) {
          const { stderr, status, installed } = await run(release);
          expect({ stderr: stderr.slice(0, message.length), status, installed }).toEqual({
            stderr: message,
            status: 1,
            installed: false,
          });
        }
        const { stderr, status } = await run("unsigned");
        expect(stderr).toMatch(
          /error: Cannot download \S+SHA256SUMS\.(?:mini)?sig\nhint: this release is not signed/,
        );
        expect(status).toBe(1);
      });

      test("refuses a redirect from https to http", async () => {
        const sum = sha256(await readFile(site.released.join("good/latest/download", archiveOf("2.0.0"))));
        for (const args of [[], ["--sha256", sum]]) {
          const { stderr, status, installed } = await run("away/good", ...args);
          expect({ stderr, status, installed }).toEqual({
            stderr: expect.stringMatching(
              /^(?:curl: .*Protocol "http" .*|\S+ leads from https to http)\nerror: Cannot download/,
            ),
            status: 1,
            installed: false,
          });
        }
      });
    });
  }

  test("accepts only a checksum when no program can check a signature", async () => {
    await using home = await createProject();
    const run = async (...args: string[]) =>
      await runRt({
        program: [findProgram("dash"), site.script],
        args: ["--url", `${site.url}/good`, "--dir", home.join("bin"), ...args],
        env: { HOME: home.path, PATH: home.join("path"), ...site.trusting() },
      });
    await pathWith(home, [...BASICS, "curl", "sha256sum"]);
    expect(await run()).toEqual({
      stdout: "",
      stderr:
        "error: Nothing here can check the signature of a release\nhint: install openssl 3, minisign or openssh-client; or give the archive's checksum with --sha256\n",
      status: 1,
    });
    const sum = sha256(await readFile(site.released.join("good/latest/download", archiveOf("2.0.0"))));
    expect(
      (
        await run(
          "--sha256",
          sum.replace(/^./, (digit) => (digit === "0" ? "1" : "0")),
        )
      ).stderr,
    ).toStartWith("error: The archive is not the one that was released");
    expect((await run("--sha256", "12")).stderr).toStartWith("error: --sha256 is not a SHA-256\n");
    expect(await run("--sha256", sum.toUpperCase())).toMatchObject({ stderr: "", status: 0 });
    expect(await versionIn(home.join("bin"))).toBe("2.0.0");
  });

  test("accepts plain http only with a checksum", async () => {
    await using home = await createProject();
    const args = ["--url", `${site.plainUrl}/good`, "--dir", home.join("bin")];
    const { stderr, status } = await site.install("", { args });
    expect({ stderr, status }).toEqual({
      stderr:
        "error: Over http, anybody on the way could put something else in its place\nhint: use https, or give the archive's checksum with --sha256\n",
      status: 1,
    });
    const sum = sha256(await readFile(site.released.join("good/latest/download", archiveOf("2.0.0"))));
    expect(await site.install("", { args: [...args, "--sha256", sum] })).toMatchObject({
      stderr: "",
      status: 0,
    });
    expect((await site.install("", { args: ["--url", "ftp://127.0.0.1"] })).stderr).toStartWith(
      'error: "ftp://127.0.0.1" is no address of releases\n',
    );
  });

  test("contains no key in the repository's copy, and then requires a checksum", async () => {
    const { stderr, status } = await runRt({
      program: ["dash", INSTALLER],
      args: ["--url", `${site.url}/good`, "--dir", site.user.join("never")],
      env: { HOME: site.user.path },
    });
    expect({ stderr, status }).toEqual({
      stderr:
        "error: This script has no key that releases are signed with\nhint: give the archive's checksum with --sha256\n",
      status: 1,
    });
  });

  test("names missing programs", async () => {
    await using home = await createProject();
    const run = async (path: string) =>
      await runRt({
        program: [findProgram("dash"), site.script],
        args: ["--url", site.url],
        env: { HOME: home.path, PATH: path },
      });
    const bare = await pathWith(home, BASICS);
    expect(await run(bare)).toMatchObject({
      stderr: "error: Neither curl nor wget is installed\n",
      status: 1,
    });
    await symlink(findProgram("curl"), join(bare, "curl"));
    expect((await run(bare)).stderr).toStartWith("error: Nothing here computes SHA-256\n");
  });

  test("removes only what it has installed", async () => {
    await using home = await createProject({ "bin/other": "", "bin/rt": "", "bin/rt.previous": "" });
    const args = ["--uninstall", "--dir", home.join("bin")];
    expect(await site.install("", { args })).toEqual({
      stdout: `Removed ${home.join("bin/rt")}\n`,
      stderr: "",
      status: 0,
    });
    expect(await readdir(home.join("bin"))).toEqual(["other"]);
    expect(await site.install("", { args })).toEqual({
      stdout: "",
      stderr: `error: There is no rt in ${home.join("bin")}\nhint: name its directory with --dir\n`,
      status: 1,
    });
  });

  const FAILURES: ReadonlyArray<readonly [release: string, message: RegExp]> = [
    [
      "exchanged",
      /^error: The archive is not the one that was released: its SHA-256 is \w{64}, not \w{64}\nhint: download it again\n$/,
    ],
    ["cut", /^error: The archive is not the one that was released/],
    ["lost", /error: Cannot download \S+tar.gz\n$/],
    ["nowhere", /error: Cannot download \S+SHA256SUMS\nhint: is there such a version/],
    [
      "linked",
      /^error: \S+tar.gz has something else than a program in the place of rt\nhint: nothing was changed\n$/,
    ],
    ["folder", /^error: \S+tar.gz has something else than a program in the place of rt\n/],
    ["other", /^error: This release has nothing for \S+\n$/],
    ["broken", /^error: rt does not start on this system\nhint: its binary was for linux-/],
  ];
  for (const [release, message] of FAILURES) {
    test(`keeps the installed rt with the release "${release}"`, async () => {
      await using home = await createProject({ "bin/rt": "#!/bin/sh\necho 0.9.0\n" }, ["bin/rt"]);
      const { stderr, status } = await site.install(release, { args: ["--dir", home.join("bin")] });
      expect({ stderr, status }).toEqual({ stderr: expect.stringMatching(message), status: 1 });
      expect(await versionIn(home.join("bin"))).toBe("0.9.0");
      expect(await readdir(home.join("bin"))).toEqual(["rt"]);
    });
  }

  test("keeps the installed rt when the connection breaks", async () => {
    const sums = await readFile(site.released.join("good/latest/download/SHA256SUMS"), "utf8");
    using half = startBrokenServer(sums, 100_000);
    await using home = await createProject({ "bin/rt": "#!/bin/sh\necho 0.9.0\n" }, ["bin/rt"]);
    const env = { RT_URL: half.url, RT_DIR: home.join("bin") };
    const { stderr, status } = await site.install("", { env, args: ["--sha256", "0".repeat(64)] });
    expect({ stderr, status }).toEqual({
      stderr: expect.stringMatching(/error: Cannot download \S+tar.gz\n$/),
      status: 1,
    });
    expect(await readdir(home.join("bin"))).toEqual(["rt"]);
  });

  test("names a directory without write permission", async () => {
    await using home = await createProject();
    await chmod(home.path, 0o755);
    await mkdir(home.join("bin"), { mode: 0o555 });
    const expected = {
      stdout: "",
      stderr: `error: Cannot write to ${home.join("bin")}\nhint: name another directory with --dir\n`,
      status: 1,
    };
    expect(await site.install("good", { args: ["--dir", home.join("bin")], prefix: AS_OTHER_USER })).toEqual(
      expected,
    );
    const inside = home.join("bin/deeper");
    expect(
      (await site.install("good", { args: ["--dir", inside], prefix: AS_OTHER_USER })).stderr,
    ).toStartWith(`error: Cannot create ${inside}\n`);
  });

  test("prints its help, and rejects unknown options and missing values", async () => {
    expect((await site.install("", { args: ["--help"] })).stdout).toStartWith("Usage: sh install.sh ");
    expect((await site.install("", { args: ["--fast"] })).stderr).toStartWith(
      'error: There is no option "--fast"\n',
    );
    for (const option of ["--version", "--dir", "--url", "--sha256"])
      for (const value of [[], [""]])
        expect(await site.install("good", { args: [option, ...value] })).toEqual({
          stdout: "",
          stderr: `error: ${option} needs a value\nhint: see install.sh --help\n`,
          status: 1,
        });
    expect(
      await site.install("good", { args: ["--version", "9.9.9", "--dir", site.user.join("never")] }),
    ).toMatchObject({
      stderr: `error: What is at ${site.url}/good/download/v9.9.9 is another version: ${archiveOf("1.5.0")}\nhint: nothing was changed\n`,
      status: 1,
    });
    expect((await site.install("")).stderr).toBe(
      "error: This script does not know where the releases are\nhint: name the address with --url\n",
    );
  });
});
