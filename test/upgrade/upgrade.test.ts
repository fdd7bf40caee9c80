// `rt upgrade` from files and from a local server, and `rt upgrade --rollback`. Rejected inputs are in refusals.test.ts.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmod, copyFile, mkdir, readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { gzip, tar } from "../../build/release/archive.ts";
import { startBrokenServer } from "../support/servers/broken-server.ts";
import { type Certificates, createCertificates } from "../support/servers/certificates.ts";
import { compileVersion, PYTHON } from "../support/programs/programs.ts";
import { createProject, type Project } from "../support/project.ts";
import { NEXT_KEY, TEST_KEY } from "../support/programs/release-key.ts";
import { expectRt, runRt, startRt } from "../support/rt.ts";
import {
  ARCHIVE,
  expectUntouched,
  installRt,
  makeRelease,
  NEW,
  OLD,
  sha256,
  versionOf,
  writeSums,
} from "./release.ts";

let released: Project;
beforeAll(async () => {
  released = await makeRelease();
});
afterAll(async () => await released[Symbol.asyncDispose]());

describe("rt upgrade", () => {
  for (const file of [ARCHIVE, "rt.zip", "rt"]) {
    test(`rt upgrade installs ${file === "rt" ? "a binary" : file} and keeps the previous version`, async () => {
      const { home, rt, upgrade } = await installRt();
      await using _ = home;
      expect(await upgrade(released.join(file))).toEqual({
        stdout: `Replaced rt ${OLD} with ${NEW} at ${rt}\nTo restore ${OLD}: rt upgrade --rollback\n`,
        stderr: "",
        status: 0,
      });
      expect(await versionOf(rt)).toBe(NEW);
      expect(await versionOf(`${rt}.previous`)).toBe(OLD);
    });
  }

  test("rt upgrade accepts a signature of the next key, and SHA256SUMS with CRLF and binary marks", async () => {
    const { home, rt, upgrade } = await installRt();
    await using _ = home;
    await using other = await createProject();
    await copyFile(released.join(ARCHIVE), other.join(ARCHIVE));
    await writeSums(other.path, [ARCHIVE], {
      secretKey: NEXT_KEY.secretKey,
      mark: "*",
      end: "\r\n",
      isUpperCase: true,
    });
    expect(await upgrade(other.join(ARCHIVE))).toMatchObject({ stderr: "", status: 0 });
    expect(await versionOf(rt)).toBe(NEW);
  });

  test("rt upgrade accepts a signature made by minisign", async () => {
    const { home, upgrade } = await installRt();
    await using _ = home;
    await using other = await createProject({ key: `untrusted comment: x\n${TEST_KEY.secretKey}\n` });
    await copyFile(released.join(ARCHIVE), other.join(ARCHIVE));
    await writeSums(other.path, [ARCHIVE]);
    await Bun.$`rm SHA256SUMS.minisig && minisign -S -s key -m SHA256SUMS -t ${`rt ${NEW}`}`
      .cwd(other.path)
      .quiet();
    expect(await upgrade(other.join(ARCHIVE))).toMatchObject({ stderr: "", status: 0 });
  });

  test("rt upgrade installs the first of two programs in an archive", async () => {
    const { home, rt, upgrade } = await installRt();
    await using _ = home;
    await using other = await createProject();
    const program = await readFile(released.join("rt"));
    const second = { path: "second/rt", content: "another program" };
    const archive = tar([{ path: "first/rt", content: program, isExecutable: true }, second]);
    await writeFile(other.join(ARCHIVE), gzip(archive, 1));
    await writeSums(other.path, [ARCHIVE]);
    expect(await upgrade(other.join(ARCHIVE))).toMatchObject({ stderr: "", status: 0 });
    expect((await readFile(rt)).equals(program)).toBe(true);
  });

  test("rt upgrade installs a stored, uncompressed zip entry", async () => {
    const { home, rt, upgrade } = await installRt();
    await using _ = home;
    await using other = await createProject();
    await copyFile(released.join("rt"), other.join("rt"));
    const pack = "import zipfile; zipfile.ZipFile('rt.zip', 'w', zipfile.ZIP_STORED).write('rt')";
    await Bun.$`${PYTHON} -c ${pack}`.cwd(other.path);
    await writeSums(other.path, ["rt.zip"]);
    expect(await upgrade(other.join("rt.zip"))).toMatchObject({ stderr: "", status: 0 });
    expect(await versionOf(rt)).toBe(NEW);
  });

  test("rt upgrade keeps the file mode", async () => {
    const { home, rt, upgrade } = await installRt();
    await using _ = home;
    await copyFile(rt, home.join("bin/copy")); // the other is a link to what other tests use
    await rename(home.join("bin/copy"), rt);
    await chmod(rt, 0o750);
    expect((await upgrade(released.join(ARCHIVE))).status).toBe(0);
    expect((await stat(rt)).mode & 0o7777).toBe(0o750);
  });

  test("rt upgrade removes only the staging directories of killed upgrades", async () => {
    const { home, upgrade } = await installRt();
    await using _ = home;
    const ended = Bun.spawn(["true"]);
    await ended.exited;
    const kept = [`.rt-upgrade-${process.pid}-abcdef`, ".rt-upgrade-notes", ".other-1-abcdef"];
    // No process has the other ids: 0 is a process group, and 2^22 and 2^31 are the limits.
    const left = [ended.pid, 0, 2 ** 22 + 1, 2 ** 31, "9".repeat(20)].map(
      (pid) => `.rt-upgrade-${pid}-abcdef`,
    );
    for (const name of [...kept, ...left]) await mkdir(home.join("bin", name, "x"), { recursive: true });
    expect((await upgrade(released.join(ARCHIVE))).status).toBe(0);
    expect((await readdir(home.join("bin"))).toSorted()).toEqual([...kept, "rt", "rt.previous"].toSorted());
  });

  test("rt upgrade --rollback restores the previous version and keeps the current one", async () => {
    const { home, rt, upgrade } = await installRt();
    await using _ = home;
    const before = home.join("bin", "rt.previous");
    await compileVersion(before, "0.0.9");
    expect(await upgrade("--rollback")).toEqual({
      stdout: `Restored rt 0.0.9 at ${rt}\n`,
      stderr: "",
      status: 0,
    });
    expect([await versionOf(rt), await versionOf(before)]).toEqual(["0.0.9", OLD]);
  });

  test("rt upgrade replaces a running rt", async () => {
    const { home, rt, upgrade } = await installRt();
    await using _ = home;
    await home.write({
      "wait.ts": 'console.log("up"); for await (const line of console) console.log("got", line);',
    });
    const child = Bun.spawn([rt, "wait.ts"], { cwd: home.path, stdin: "pipe", stdout: "pipe" });
    const output = child.stdout.getReader();
    expect(Buffer.from((await output.read()).value!).toString()).toBe("up\n");
    expect((await upgrade(released.join(ARCHIVE))).status).toBe(0);
    void child.stdin.write("hello\n");
    await child.stdin.end();
    expect(Buffer.from((await output.read()).value!).toString()).toStartWith("got hello\n");
    expect(await child.exited).toBe(0);
    expect(await versionOf(rt)).toBe(NEW);
  });

  test("rt upgrade replaces the target of a symlink", async () => {
    const { home, rt } = await installRt();
    await using _ = home;
    await Bun.$`ln -s bin/rt ${home.join("rt")}`;
    const { status } = await runRt({ program: [home.join("rt")], args: ["upgrade", released.join(ARCHIVE)] });
    expect(status).toBe(0);
    expect([await versionOf(rt), await versionOf(home.join("rt"))]).toEqual([NEW, NEW]);
  });

  test("rt help upgrade describes the options", async () => {
    for (const args of [
      ["help", "upgrade"],
      ["upgrade", "--help"],
    ])
      await expectRt({
        args,
        stdout: /rt upgrade \[url\|file\] \[--sha256=<sum>\] \[--allow-downgrade\] \[--rollback\]/,
      });
  });
});

describe("rt upgrade from a server", () => {
  let certificates: Certificates;
  beforeAll(async () => {
    certificates = await createCertificates();
  });
  afterAll(async () => await certificates[Symbol.asyncDispose]());

  /** Installs an rt that trusts these servers. */
  const install = async () => await installRt({ NODE_EXTRA_CA_CERTS: certificates.authority });

  /** Serves `released`; `change` may return another response. */
  function serve(
    change: (path: string) => Response | undefined | void = () => undefined,
    protocol: "https" | "http" = "https",
  ) {
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      ...(protocol === "https" && { tls: { key: certificates.key, cert: certificates.cert } }),
      fetch(request) {
        const { pathname } = new URL(request.url);
        return change(pathname) ?? new Response(Bun.file(released.join(pathname.slice(1))));
      },
      error: () => new Response("none", { status: 404 }),
    });
    return {
      url: (name: string) => `${protocol}://127.0.0.1:${server.port}/${name}`,
      [Symbol.dispose]: () => server.stop(true),
    };
  }

  test("rt upgrade downloads the archive and its checksum files", async () => {
    using server = serve();
    const { home, rt, upgrade } = await install();
    await using _ = home;
    expect(await upgrade(server.url(ARCHIVE))).toMatchObject({ stderr: "", status: 0 });
    expect(await versionOf(rt)).toBe(NEW);
  });

  test("rt upgrade with --sha256 downloads no checksum file", async () => {
    const requests: string[] = [];
    using server = serve((path) => void requests.push(path));
    const { home, upgrade } = await install();
    await using _ = home;
    const sum = sha256(await readFile(released.join(ARCHIVE))).toUpperCase();
    expect(await upgrade(server.url(ARCHIVE), "--sha256", sum)).toMatchObject({ stderr: "", status: 0 });
    expect(requests).toEqual([`/${ARCHIVE}`]);
  });

  const FAILURES: ReadonlyArray<
    readonly [fault: string, answer: (path: string) => Response | undefined, message: RegExp]
  > = [
    [
      "an archive with another checksum",
      (path) => (path.endsWith(".gz") ? new Response("nothing of the kind") : undefined),
      /^error: Checksum mismatch for rt-9.8.7-linux-x64.tar.gz: its SHA-256 is [0-9a-f]{64}, expected [0-9a-f]{64}\nhint: nothing was changed/,
    ],
    [
      "no archive",
      (path) => (path.endsWith(".gz") ? new Response("", { status: 404 }) : undefined),
      /^error: Cannot download https:\S+tar.gz \(status 404\)\n$/,
    ],
    [
      "no checksums",
      (path) => (path.endsWith("SUMS") ? new Response("", { status: 404 }) : undefined),
      /^error: Cannot download https:\S+SHA256SUMS \(status 404\)\nhint: pass the checksum/,
    ],
    [
      "no signature",
      (path) => (path.endsWith("minisig") ? new Response("", { status: 404 }) : undefined),
      /^error: Cannot download https:\S+SHA256SUMS.minisig \(status 404\)\nhint: pass the checksum/,
    ],
    [
      "other checksums than were signed",
      (path) => (path.endsWith("SUMS") ? new Response(`${"0".repeat(64)}  other\n`) : undefined),
      /^error: Signature mismatch for SHA256SUMS\nhint: nothing was changed/,
    ],
    [
      "a list of checksums without end",
      (path) => (path.endsWith("SUMS") ? new Response("x".repeat(2_000_000)) : undefined),
      /^error: https:\S+SHA256SUMS is larger than 1 MB\nhint: nothing was changed/,
    ],
  ];
  for (const [fault, answer, message] of FAILURES) {
    test(`rt upgrade changes nothing when the server has ${fault}`, async () => {
      using server = serve(answer);
      const { home, rt, upgrade } = await install();
      await using _ = home;
      const { stderr, status } = await upgrade(server.url(ARCHIVE));
      expect({ stderr, status }).toEqual({ stderr: expect.stringMatching(message), status: 1 });
      await expectUntouched(home, rt);
    });
  }

  test("rt upgrade changes nothing when SHA256SUMS does not list the file", async () => {
    using server = serve();
    const { home, rt, upgrade } = await install();
    await using _ = home;
    const { stderr, status } = await upgrade(server.url("rt-9.9.9.tar.gz"));
    expect({ stderr, status }).toEqual({
      stderr: "error: SHA256SUMS has no checksum for rt-9.9.9.tar.gz\nhint: pass it with --sha256\n",
      status: 1,
    });
    await expectUntouched(home, rt);
  });

  test("rt upgrade rejects an untrusted TLS certificate", async () => {
    using server = serve();
    const { home, rt, upgrade } = await installRt();
    await using _ = home;
    const { stderr, status } = await upgrade(server.url(ARCHIVE));
    expect({ stderr, status }).toEqual({
      stderr: expect.stringMatching(/^error: Cannot download \S+ \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\)\n/),
      status: 1,
    });
    await expectUntouched(home, rt);
  });

  describe("rt upgrade and redirects", () => {
    const sumOfArchive = async () => sha256(await readFile(released.join(ARCHIVE)));
    /** Redirects requests to a path below /away. */
    const away = (to: (name: string) => string) => (path: string) =>
      path.startsWith("/away/") ? Response.redirect(to(path.slice("/away/".length)), 302) : undefined;

    test("rt upgrade follows a redirect from https to https", async () => {
      using other = serve();
      using server = serve(away(other.url));
      const { home, rt, upgrade } = await install();
      await using _ = home;
      expect(await upgrade(server.url(`away/${ARCHIVE}`))).toMatchObject({ stderr: "", status: 0 });
      expect(await versionOf(rt)).toBe(NEW);
    });

    test("rt upgrade rejects a redirect from https to http, with and without a checksum", async () => {
      const requests: string[] = [];
      using plain = serve((path) => void requests.push(path), "http");
      using server = serve(away(plain.url));
      using middle = serve(away((name) => server.url(`away/${name}`)));
      const { home, rt, upgrade } = await install();
      await using _ = home;
      for (const args of [[], ["--sha256", await sumOfArchive()]]) {
        const { stderr, status } = await upgrade(middle.url(`away/${ARCHIVE}`), ...args);
        expect({ stderr, status }).toEqual({
          stderr: expect.stringMatching(
            /^error: https:\S+ redirects from https to http:\S+\nhint: nothing was changed/,
          ),
          status: 1,
        });
      }
      expect(requests).toEqual([]);
      await expectUntouched(home, rt);
    });

    test("rt upgrade with --sha256 accepts http, and a redirect to https", async () => {
      using secure = serve();
      using server = serve(away(secure.url), "http");
      const { home, upgrade } = await install();
      await using _ = home;
      const args = ["--sha256", await sumOfArchive()];
      expect(await upgrade(server.url(`away/${ARCHIVE}`), ...args)).toMatchObject({ stderr: "", status: 0 });
    });

    test("rt upgrade stops after too many redirects", async () => {
      let requests = 0;
      using server = serve((path) => {
        requests += 1;
        return Response.redirect(path, 307);
      });
      const { home, rt, upgrade } = await install();
      await using _ = home;
      const { stderr, status } = await upgrade(server.url(ARCHIVE));
      expect({ stderr, status }).toEqual({
        stderr: expect.stringMatching(/^error: Too many redirects from https:\S+\nhint: nothing/),
        status: 1,
      });
      expect(requests).toBe(11);
      await expectUntouched(home, rt);
    });
  });

  test("rt upgrade changes nothing when the connection breaks during the download", async () => {
    const whole = await readFile(released.join(ARCHIVE));
    using server = startBrokenServer("", whole.length);
    const { home, rt, upgrade } = await install();
    await using _ = home;
    const { stderr, status } = await upgrade(`${server.url}/${ARCHIVE}`, "--sha256", sha256(whole));
    expect({ stderr, status }).toEqual({
      stderr: expect.stringMatching(/^error: Cannot download \S+ \(\w+\)\nhint: nothing was changed\n$/),
      status: 1,
    });
    await expectUntouched(home, rt);
  });

  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    test(`rt upgrade removes its files when ${signal} ends it during the download`, async () => {
      const requests = Promise.withResolvers<void>();
      using server = Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        idleTimeout: 0,
        fetch: () => {
          requests.resolve();
          return new Promise<Response>(() => {});
        },
      });
      const { home, rt } = await install();
      await using _ = home;
      const address = `http://127.0.0.1:${server.port}/${ARCHIVE}`;
      const child = startRt({
        program: [rt],
        args: ["upgrade", address, "--sha256", "0".repeat(64)],
        cwd: home.path,
      });
      await requests.promise;
      child.kill(signal);
      await child.exited;
      expect(child.signalCode).toBe(signal);
      await expectUntouched(home, rt);
    });
  }

  test("rt upgrade changes nothing when the server refuses the connection", async () => {
    const { home, rt, upgrade } = await install();
    await using _ = home;
    const { stderr, status } = await upgrade(`https://127.0.0.1:1/${ARCHIVE}`);
    expect({ stderr, status }).toEqual({
      stderr: expect.stringMatching(/^error: Cannot download /),
      status: 1,
    });
    await expectUntouched(home, rt);
  });
});
