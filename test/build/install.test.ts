// install.sh, run by dash against a local server: right and wrong releases, with curl and with wget, and with each program
// that can check a signature.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { chmod, mkdir, readdir, readFile, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { gzip, tar } from "../../build/archive.ts";
import { createKeyPair, signContent, signForSsh } from "../../build/minisign.ts";
import { renderInstaller } from "../../build/release.ts";
import { hostTarget } from "../../build/targets.ts";
import { startBrokenServer } from "../support/broken-server.ts";
import { type Certificates, createCertificates } from "../support/certificates.ts";
import { NEXT_KEY, TEST_KEY } from "../support/release-key.ts";
import { compileProgram, compileVersion, placeRt } from "../support/programs.ts";
import { createProject, type Project } from "../support/project.ts";
import { cleanEnvironment, REPOSITORY, runRt, type RtResult } from "../support/rt.ts";
import { AS_OTHER } from "../support/users.ts";

/** As a release has it, but with the key of the tests; and as the repository has it. */
let script: string;
const SCRIPT = join(REPOSITORY, "build", "packages", "install.sh");
const HOST = hostTarget().name;
const archiveOf = (version: string) => `rt-${version}-${HOST}.tar.gz`;

let released: Project;
let user: Project;
let certificates: Certificates;
let server: Bun.Server<undefined>;
let plain: Bun.Server<undefined>;
let url: string;
let plainUrl: string;

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** SHA256SUMS and its signatures. */
async function publishSums(folder: string, sums: string, secretKey: string = TEST_KEY.secretKey) {
  const bytes = Buffer.from(sums);
  await released.write({
    [`${folder}/SHA256SUMS`]: sums,
    [`${folder}/SHA256SUMS.minisig`]: signContent(bytes, "rt 2.0.0", secretKey),
    [`${folder}/SHA256SUMS.sig`]: signForSsh(bytes, secretKey),
  });
}

interface Publication {
  /** May spoil the archive after it was summed up. */
  change?(archive: Uint8Array): Uint8Array;
  /** In the place of one with the program in it. */
  archive?: Uint8Array;
  secretKey?: string;
}

/** A release in a folder, as a server has it. */
async function publish(
  folder: string,
  version: string,
  program: Uint8Array,
  { change = (bytes) => bytes, archive, secretKey }: Publication = {},
) {
  const name = `rt-${version}-${HOST}`;
  archive ??= gzip(tar([{ path: `${name}/rt`, content: program, isExecutable: true }]), 1);
  await released.write({ [`${folder}/${name}.tar.gz`]: change(archive) });
  // Another target's file comes first, and one that the pattern must not take for this one.
  const sums = `${"0".repeat(64)}  rt-${version}-${HOST}-other.tar.gz\n${sha256(archive)}  ${name}.tar.gz\n`;
  await publishSums(folder, sums, secretKey);
}

/** An archive in which something else is where rt should be. */
async function packInstead(command: string): Promise<Uint8Array> {
  await using project = await createProject({ [`rt-2.0.0-${HOST}/.keep`]: "" });
  await Bun.$`sh -c ${`${command} rt-2.0.0-${HOST}/rt && tar -czf x.tar.gz rt-2.0.0-${HOST}`}`.cwd(
    project.path,
  );
  return await readFile(project.join("x.tar.gz"));
}

beforeAll(async () => {
  released = await createProject();
  user = await createProject();
  await mkdir(released.join("programs"));
  await compileVersion(released.join("programs/new"), "2.0.0");
  await compileVersion(released.join("programs/old"), "1.5.0");
  await compileProgram(released.join("programs/broken"), "return 4;");
  const [newer, older, broken] = await Promise.all(
    ["new", "old", "broken"].map(async (name) => await readFile(released.join("programs", name))),
  );
  await Promise.all([
    publish("good/latest/download", "2.0.0", newer!),
    publish("good/download/v1.5.0", "1.5.0", older!),
    publish("good/download/v9.9.9", "1.5.0", older!),
    publish("next/latest/download", "2.0.0", newer!, { secretKey: NEXT_KEY.secretKey }),
    publish("strange/latest/download", "2.0.0", newer!, { secretKey: createKeyPair().secretKey }),
    publish("unsigned/latest/download", "2.0.0", newer!),
    publish("resigned/latest/download", "2.0.0", newer!),
    publish("linked/latest/download", "2.0.0", newer!, { archive: await packInstead("ln -s /bin/true") }),
    publish("folder/latest/download", "2.0.0", newer!, { archive: await packInstead("mkdir") }),
    publish("exchanged/latest/download", "2.0.0", newer!, { change: () => Buffer.from("something else") }),
    publish("cut/latest/download", "2.0.0", newer!, { change: (bytes) => bytes.subarray(0, 500) }),
    publish("broken/latest/download", "2.0.0", broken!),
    publish("lost/latest/download", "2.0.0", newer!),
    publishSums("other/latest/download", `${"0".repeat(64)}  rt-2.0.0-beos-x64.tar.gz\n`),
  ]);
  for (const kind of ["minisig", "sig"])
    await rm(released.join(`unsigned/latest/download/SHA256SUMS.${kind}`));
  await released.write({
    "resigned/latest/download/SHA256SUMS": `${"0".repeat(64)}  rt-2.0.0-${HOST}.tar.gz\n`,
  });
  await Bun.file(released.join("lost/latest/download", archiveOf("2.0.0"))).delete();
  script = user.join("install.sh");
  await user.write({
    "install.sh": await renderInstaller("install.sh", undefined, [TEST_KEY.publicKey, NEXT_KEY.publicKey]),
  });
  certificates = await createCertificates();
  await user.write({ wgetrc: `ca_certificate = ${certificates.authority}\n` });
  await chmod(user.path, 0o755);
  /** What is below /away/ is at the other server. */
  const answer = (request: Request, other: string) => {
    const { pathname } = new URL(request.url);
    const [, where, ...rest] = pathname.split("/");
    if (where === "away") return Response.redirect(`${other}/${rest.join("/")}`, 302);
    return new Response(Bun.file(released.join(pathname.slice(1))));
  };
  const settings = { port: 0, hostname: "127.0.0.1", error: () => new Response("none", { status: 404 }) };
  plain = Bun.serve({ ...settings, fetch: (request) => answer(request, url) });
  server = Bun.serve({
    ...settings,
    tls: { key: certificates.key, cert: certificates.cert },
    fetch: (request) => answer(request, plainUrl),
  });
  url = `https://127.0.0.1:${server.port}`;
  plainUrl = `http://127.0.0.1:${plain.port}`;
});

afterAll(async () => {
  await server.stop(true);
  await plain.stop(true);
  await certificates[Symbol.asyncDispose]();
  await released[Symbol.asyncDispose]();
  await user[Symbol.asyncDispose]();
});

interface InstallOptions {
  args?: readonly string[];
  env?: Record<string, string | undefined>;
  prefix?: readonly string[];
}

/** The certificates of the server, for curl and for wget. */
function trusting() {
  return { CURL_CA_BUNDLE: certificates.authority, WGETRC: user.join("wgetrc") };
}

async function install(
  release: string,
  { args = [], env, prefix = [] }: InstallOptions = {},
): Promise<RtResult> {
  return await runRt({
    program: [...prefix, "dash", script],
    args: [...(release ? ["--url", `${url}/${release}`] : []), ...args],
    cwd: "/",
    env: { HOME: user.path, SHELL: "/bin/bash", ...trusting(), ...env },
  });
}

async function versionIn(directory: string): Promise<string> {
  return (await runRt({ program: [join(directory, "rt")], args: ["--version"] })).stdout.trim();
}

describe.skipIf(process.platform === "win32")("install.sh", () => {
  test("is portable and says nothing that shellcheck would complain of", async () => {
    const { stdout } = await Bun.$`shellcheck --shell=sh --enable=check-unassigned-uppercase ${SCRIPT}`
      .nothrow()
      .quiet();
    expect(stdout.toString()).toBe("");
  });

  test("installs the latest version into the user's own directory, and says how to find it", async () => {
    const directory = user.join(".local/bin");
    expect(await install("good")).toEqual({
      stdout: [
        `Downloading ${url}/good/latest/download/${archiveOf("2.0.0")}`,
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

  test("gives each shell its own words, and none when rt is found already", async () => {
    await using home = await createProject();
    const directory = home.join("bin");
    const say = async (env: Record<string, string | undefined>) => {
      const { stdout } = await install("good", { args: ["--dir", directory], env });
      return stdout.trim().split("\n").slice(2);
    };
    const { PATH } = cleanEnvironment();
    expect(await say({ SHELL: "/usr/bin/fish" })).toEqual([
      `Put it on your PATH:  fish_add_path ${directory}`,
    ]);
    expect((await say({ SHELL: "/bin/zsh" }))[0]).toEndWith(">> ~/.zshrc");
    expect((await say({ SHELL: undefined }))[0]).toEndWith(">> ~/.profile");
    expect(await say({ PATH: `${directory}:${PATH}` })).toEqual([]);
  });

  test("installs the version that is asked for, by option or variable, where it is asked to", async () => {
    await using home = await createProject();
    const directory = home.join("a directory");
    expect(await install("good", { args: ["--version", "1.5.0", "--dir", directory] })).toMatchObject({
      stderr: "",
      status: 0,
    });
    expect(await versionIn(directory)).toBe("1.5.0");
    const env = { RT_VERSION: "v1.5.0", RT_DIR: home.join("b"), RT_URL: `${url}/good/` };
    expect(await install("", { env })).toMatchObject({ stderr: "", status: 0 });
    expect(await versionIn(home.join("b"))).toBe("1.5.0");
  });

  test("replaces an rt that is running", async () => {
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
    expect(await install("good", { args: ["--dir", home.join("bin")] })).toMatchObject({
      stderr: "",
      status: 0,
    });
    await child.stdin.end();
    expect(Buffer.from((await output.read()).value!).toString()).toBe("done\n");
    expect(await child.exited).toBe(0);
    expect(await versionIn(home.join("bin"))).toBe("2.0.0");
  });

  /** A PATH with these programs alone. */
  async function pathWith(project: Project, names: readonly string[]): Promise<string> {
    await mkdir(project.join("path"));
    for (const name of names) await symlink(Bun.which(name)!, project.join("path", name));
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
    describe(`where ${checker} checks the signature, with ${programs.at(-1)}`, () => {
      const run = async (release: string, ...args: string[]) => {
        await using home = await createProject();
        const path = await pathWith(home, [...BASICS, ...programs]);
        const result = await runRt({
          program: [Bun.which("dash")!, script],
          args: ["--url", `${url}/${release}`, "--dir", home.join("bin"), ...args],
          env: { HOME: home.path, PATH: path, ...trusting() },
        });
        const installed = await Bun.file(home.join("bin/rt")).exists();
        return { ...result, installed };
      };

      test("takes what is signed with one of the keys", async () => {
        for (const release of ["good", "next"])
          expect(await run(release)).toMatchObject({ stderr: "", status: 0, installed: true });
      });

      test("refuses what is not", async () => {
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

      test("does not go from https to http", async () => {
        const sum = sha256(await readFile(released.join("good/latest/download", archiveOf("2.0.0"))));
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

  test("without anything that can check a signature, takes a checksum and nothing else", async () => {
    await using home = await createProject();
    const run = async (...args: string[]) =>
      await runRt({
        program: [Bun.which("dash")!, script],
        args: ["--url", `${url}/good`, "--dir", home.join("bin"), ...args],
        env: { HOME: home.path, PATH: home.join("path"), ...trusting() },
      });
    await pathWith(home, [...BASICS, "curl", "sha256sum"]);
    expect(await run()).toEqual({
      stdout: "",
      stderr:
        "error: Nothing here can check the signature of a release\nhint: install openssl 3, minisign or openssh-client; or give the archive's checksum with --sha256\n",
      status: 1,
    });
    const sum = sha256(await readFile(released.join("good/latest/download", archiveOf("2.0.0"))));
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

  test("takes plain http with a checksum alone", async () => {
    await using home = await createProject();
    const args = ["--url", `${plainUrl}/good`, "--dir", home.join("bin")];
    const { stderr, status } = await install("", { args });
    expect({ stderr, status }).toEqual({
      stderr:
        "error: Over http, anybody on the way could put something else in its place\nhint: use https, or give the archive's checksum with --sha256\n",
      status: 1,
    });
    const sum = sha256(await readFile(released.join("good/latest/download", archiveOf("2.0.0"))));
    expect(await install("", { args: [...args, "--sha256", sum] })).toMatchObject({ stderr: "", status: 0 });
    expect((await install("", { args: ["--url", "ftp://127.0.0.1"] })).stderr).toStartWith(
      'error: "ftp://127.0.0.1" is no address of releases\n',
    );
  });

  test("has no key in the repository's own copy, and then takes nothing without a checksum", async () => {
    const { stderr, status } = await runRt({
      program: ["dash", SCRIPT],
      args: ["--url", `${url}/good`, "--dir", user.join("never")],
      env: { HOME: user.path },
    });
    expect({ stderr, status }).toEqual({
      stderr:
        "error: This script has no key that releases are signed with\nhint: give the archive's checksum with --sha256\n",
      status: 1,
    });
  });

  test("says what it needs when it is not there", async () => {
    await using home = await createProject();
    const run = async (path: string) =>
      await runRt({
        program: [Bun.which("dash")!, script],
        args: ["--url", url],
        env: { HOME: home.path, PATH: path },
      });
    const bare = await pathWith(home, BASICS);
    expect(await run(bare)).toMatchObject({
      stderr: "error: Neither curl nor wget is installed\n",
      status: 1,
    });
    await symlink(Bun.which("curl")!, join(bare, "curl"));
    expect((await run(bare)).stderr).toStartWith("error: Nothing here computes SHA-256\n");
  });

  test("removes what it installed, and only that", async () => {
    await using home = await createProject({ "bin/other": "", "bin/rt": "", "bin/rt.previous": "" });
    const args = ["--uninstall", "--dir", home.join("bin")];
    expect(await install("", { args })).toEqual({
      stdout: `Removed ${home.join("bin/rt")}\n`,
      stderr: "",
      status: 0,
    });
    expect(await readdir(home.join("bin"))).toEqual(["other"]);
    expect(await install("", { args })).toEqual({
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
    test(`leaves the rt that is there when a release is ${release}`, async () => {
      await using home = await createProject({ "bin/rt": "#!/bin/sh\necho 0.9.0\n" }, ["bin/rt"]);
      const { stderr, status } = await install(release, { args: ["--dir", home.join("bin")] });
      expect({ stderr, status }).toEqual({ stderr: expect.stringMatching(message), status: 1 });
      expect(await versionIn(home.join("bin"))).toBe("0.9.0");
      expect(await readdir(home.join("bin"))).toEqual(["rt"]);
    });
  }

  test("leaves the rt that is there when the connection breaks in the middle", async () => {
    const sums = await readFile(released.join("good/latest/download/SHA256SUMS"), "utf8");
    using half = startBrokenServer(sums, 100_000);
    await using home = await createProject({ "bin/rt": "#!/bin/sh\necho 0.9.0\n" }, ["bin/rt"]);
    const env = { RT_URL: half.url, RT_DIR: home.join("bin") };
    const { stderr, status } = await install("", { env, args: ["--sha256", "0".repeat(64)] });
    expect({ stderr, status }).toEqual({
      stderr: expect.stringMatching(/error: Cannot download \S+tar.gz\n$/),
      status: 1,
    });
    expect(await readdir(home.join("bin"))).toEqual(["rt"]);
  });

  test("says where it may not write", async () => {
    await using home = await createProject();
    await chmod(home.path, 0o755);
    await mkdir(home.join("bin"), { mode: 0o555 });
    const expected = {
      stdout: "",
      stderr: `error: Cannot write to ${home.join("bin")}\nhint: name another directory with --dir\n`,
      status: 1,
    };
    expect(await install("good", { args: ["--dir", home.join("bin")], prefix: AS_OTHER })).toEqual(expected);
    const inside = home.join("bin/deeper");
    expect((await install("good", { args: ["--dir", inside], prefix: AS_OTHER })).stderr).toStartWith(
      `error: Cannot create ${inside}\n`,
    );
  });

  test("explains itself, and does not take what it does not know", async () => {
    expect((await install("", { args: ["--help"] })).stdout).toStartWith("Usage: sh install.sh ");
    expect((await install("", { args: ["--fast"] })).stderr).toStartWith(
      'error: There is no option "--fast"\n',
    );
    for (const option of ["--version", "--dir", "--url", "--sha256"])
      for (const value of [[], [""]])
        expect(await install("good", { args: [option, ...value] })).toEqual({
          stdout: "",
          stderr: `error: ${option} needs a value\nhint: see install.sh --help\n`,
          status: 1,
        });
    expect(
      await install("good", { args: ["--version", "9.9.9", "--dir", user.join("never")] }),
    ).toMatchObject({
      stderr: `error: What is at ${url}/good/download/v9.9.9 is another version: ${archiveOf("1.5.0")}\nhint: nothing was changed\n`,
      status: 1,
    });
    expect((await install("")).stderr).toBe(
      "error: This script does not know where the releases are\nhint: name the address with --url\n",
    );
  });
});

describe("install.ps1", () => {
  // PowerShell is in neither Debian nor npm. What can be seen without it: that it does what install.sh does.
  test("reads the same variables and files as install.sh, and is ASCII", async () => {
    const [sh, ps1] = await Promise.all(
      ["install.sh", "install.ps1"].map(async (name) => await Bun.file(join(SCRIPT, "..", name)).text()),
    );
    for (const word of [
      "RT_VERSION",
      "RT_DIR",
      "RT_URL",
      "SHA256SUMS",
      "latest/download",
      "download/v",
      "@RELEASES@",
      "@KEYS@",
      "rt-release",
    ]) {
      expect(sh).toContain(word);
      expect(ps1).toContain(word);
    }
    const messages = (script: string, pattern: RegExp) =>
      [...script.matchAll(pattern)].map(([, text]) => text!);
    const own = messages(ps1!, /Stop-Install ['"]([A-Z][\w ]+)/g);
    const theirs = messages(sh!, /fail "([A-Z][\w ]+)/g);
    expect(own.filter((text) => !theirs.includes(text))).toEqual([]);
    expect(/^[\t\n\x20-\x7e]*$/.test(ps1!)).toBe(true);
  });

  test("has every bracket and quote closed", async () => {
    const script = await Bun.file(join(SCRIPT, "..", "install.ps1")).text();
    const code = script.replaceAll(/#.*$/gm, "").replaceAll(/'[^'\n]*'|"(?:[^"`\n]|`.)*"/g, "");
    const open: string[] = [];
    for (const sign of code.match(/[()[\]{}'"]/g)!) {
      if ("([{".includes(sign)) open.push({ "(": ")", "[": "]", "{": "}" }[sign]!);
      else expect(open.pop()).toBe(sign);
    }
    expect(open).toEqual([]);
  });
});
