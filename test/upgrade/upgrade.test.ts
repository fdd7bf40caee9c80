// `rt upgrade` as its user sees it: from files and from a local server, right and wrong, and back again. What it refuses
// is in refusals.test.ts.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { startBrokenServer } from "../support/broken-server.ts";
import { compileVersion } from "../support/programs.ts";
import type { Project } from "../support/project.ts";
import { expectRt, runRt } from "../support/rt.ts";
import { ARCHIVE, expectUntouched, installRt, makeRelease, NEW, OLD, sha256, versionOf } from "./release.ts";

let released: Project;
beforeAll(async () => {
  released = await makeRelease();
});
afterAll(async () => await released[Symbol.asyncDispose]());

describe("rt upgrade", () => {
  for (const file of [ARCHIVE, "rt.zip", "rt"]) {
    test(`takes ${file === "rt" ? "a binary" : file}, and keeps the rt before`, async () => {
      const { home, rt, upgrade } = await installRt();
      await using _ = home;
      expect(await upgrade(released.join(file))).toEqual({
        stdout: `rt ${OLD} is now ${NEW}, at ${rt}\nrt upgrade --rollback brings ${OLD} back\n`,
        stderr: "",
        status: 0,
      });
      expect(await versionOf(rt)).toBe(NEW);
      expect(await versionOf(`${rt}.previous`)).toBe(OLD);
    });
  }

  test("goes back to the rt before, and keeps this one", async () => {
    const { home, rt, upgrade } = await installRt();
    await using _ = home;
    const before = home.join("bin", "rt.previous");
    await compileVersion(before, "0.0.9");
    expect(await upgrade("--rollback")).toEqual({
      stdout: `rt is 0.0.9 again, at ${rt}\n`,
      stderr: "",
      status: 0,
    });
    expect([await versionOf(rt), await versionOf(before)]).toEqual(["0.0.9", OLD]);
  });

  test("replaces an rt that is running", async () => {
    const { home, rt, upgrade } = await installRt();
    await using _ = home;
    await home.write({
      "wait.ts": 'console.log("up"); for await (const line of console) console.log("got", line);',
    });
    const child = Bun.spawn([rt, "wait.ts"], { cwd: home.path, stdin: "pipe", stdout: "pipe" });
    const output = child.stdout.getReader();
    expect(Buffer.from((await output.read()).value!).toString()).toBe("up\n");
    expect((await upgrade(released.join(ARCHIVE))).status).toBe(0);
    child.stdin.write("hello\n");
    await child.stdin.end();
    expect(Buffer.from((await output.read()).value!).toString()).toStartWith("got hello\n");
    expect(await child.exited).toBe(0);
    expect(await versionOf(rt)).toBe(NEW);
  });

  test("replaces the program that a link leads to", async () => {
    const { home, rt } = await installRt();
    await using _ = home;
    await Bun.$`ln -s bin/rt ${home.join("rt")}`;
    const { status } = await runRt({ program: [home.join("rt")], args: ["upgrade", released.join(ARCHIVE)] });
    expect(status).toBe(0);
    expect([await versionOf(rt), await versionOf(home.join("rt"))]).toEqual([NEW, NEW]);
  });

  test("is explained by the help", async () => {
    for (const args of [
      ["help", "upgrade"],
      ["upgrade", "--help"],
    ])
      await expectRt({ args, stdout: /rt upgrade \[url\|file\] \[--sha256=<sum>\] \[--rollback\]/ });
  });
});

describe("rt upgrade from a server", () => {
  /** Serves `released`; `change` may answer in its place. */
  function serve(change: (path: string) => Response | undefined = () => undefined) {
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch(request) {
        const { pathname } = new URL(request.url);
        return change(pathname) ?? new Response(Bun.file(released.join(pathname.slice(1))));
      },
      error: () => new Response("none", { status: 404 }),
    });
    return {
      url: (name: string) => `http://127.0.0.1:${server.port}/${name}`,
      [Symbol.dispose]: () => server.stop(true),
    };
  }

  test("takes the archive and the checksum beside it", async () => {
    using server = serve();
    const { home, rt, upgrade } = await installRt();
    await using _ = home;
    expect(await upgrade(server.url(ARCHIVE))).toMatchObject({ stderr: "", status: 0 });
    expect(await versionOf(rt)).toBe(NEW);
  });

  test("takes a checksum that the user gives, and then asks for no other", async () => {
    const asked: string[] = [];
    using server = serve((path) => void asked.push(path));
    const { home, upgrade } = await installRt();
    await using _ = home;
    const sum = sha256(await readFile(released.join(ARCHIVE))).toUpperCase();
    expect(await upgrade(server.url(ARCHIVE), "--sha256", sum)).toMatchObject({ stderr: "", status: 0 });
    expect(asked).toEqual([`/${ARCHIVE}`]);
  });

  const FAILURES: ReadonlyArray<
    readonly [what: string, answer: (path: string) => Response | undefined, message: RegExp]
  > = [
    [
      "something else than was released",
      (path) => (path.endsWith(".gz") ? new Response("nothing of the kind") : undefined),
      /^error: rt-9.8.7-linux-x64.tar.gz is not what it should be: its SHA-256 is [0-9a-f]{64}, not [0-9a-f]{64}\nhint: nothing was changed/,
    ],
    [
      "no archive",
      (path) => (path.endsWith(".gz") ? new Response("", { status: 404 }) : undefined),
      /^error: Cannot download http:\S+tar.gz \(status 404\)\n$/,
    ],
    [
      "no checksums",
      (path) => (path.endsWith("SUMS") ? new Response("", { status: 404 }) : undefined),
      /^error: Cannot download http:\S+SHA256SUMS \(status 404\)\nhint: give the checksum/,
    ],
    [
      "checksums of other files",
      (path) => (path.endsWith("SUMS") ? new Response(`${"0".repeat(64)}  other\n`) : undefined),
      /^error: SHA256SUMS has no checksum of rt-9.8.7-linux-x64.tar.gz\nhint: give it/,
    ],
  ];
  for (const [what, answer, message] of FAILURES) {
    test(`changes nothing when there is ${what}`, async () => {
      using server = serve(answer);
      const { home, rt, upgrade } = await installRt();
      await using _ = home;
      const { stderr, status } = await upgrade(server.url(ARCHIVE));
      expect({ stderr, status }).toEqual({ stderr: expect.stringMatching(message), status: 1 });
      await expectUntouched(home, rt);
    });
  }

  test("changes nothing when the connection breaks in the middle", async () => {
    const whole = await readFile(released.join(ARCHIVE));
    using server = startBrokenServer(`${sha256(whole)}  ${ARCHIVE}\n`, whole.length);
    const { home, rt, upgrade } = await installRt();
    await using _ = home;
    const { stderr, status } = await upgrade(`${server.url}/${ARCHIVE}`);
    expect({ stderr, status }).toEqual({
      stderr: expect.stringMatching(/^error: Cannot download \S+ \(\w+\)\nhint: nothing was changed\n$/),
      status: 1,
    });
    await expectUntouched(home, rt);
  });

  test("changes nothing when nobody answers", async () => {
    const { home, rt, upgrade } = await installRt();
    await using _ = home;
    const { stderr, status } = await upgrade(`http://127.0.0.1:1/${ARCHIVE}`);
    expect({ stderr, status }).toEqual({
      stderr: expect.stringMatching(/^error: Cannot download /),
      status: 1,
    });
    await expectUntouched(home, rt);
  });
});
