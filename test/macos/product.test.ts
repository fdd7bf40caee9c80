// `rt` with fake macOS frameworks: both ways of running code, process exit, memory, `rt secrets` and `rt doctor`.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { compileWithStandIn, type Keychain, startKeychain } from "../support/keyring/keychain.ts";
import { countCanaries, hideCanary, makeCanary, SHOWN_CANARIES } from "../support/programs/memory.ts";
import { createProject, type Project } from "../support/project.ts";
import { runRt, startRt } from "../support/rt.ts";

const PROGRAMS: Record<string, string> = {
  "get.ts": `import { secrets } from "rt"; console.log(JSON.stringify(await secrets.get(process.argv[2], process.argv[3])));`,
  "worker.ts": `const code = \`postMessage(await rt.secrets.get("threads", "me"))\`;
    const worker = new Worker(URL.createObjectURL(new Blob([code])));
    worker.onmessage = ({ data }) => { console.log(data); worker.terminate(); };`,
};

describe.skipIf(process.platform !== "linux")("rt on macOS", () => {
  let home: Project;
  let program: readonly string[];
  let keychain: Keychain;
  let project: Project;
  beforeAll(async () => {
    [home, keychain, project] = await Promise.all([
      createProject(),
      startKeychain(),
      createProject(PROGRAMS),
    ]);
    program = [home.join("rt")];
    await compileWithStandIn(home.join("rt"));
  }, 120_000);
  afterAll(async () => {
    for (const each of [home, keychain, project]) await each?.[Symbol.asyncDispose]();
  });

  const rt = (args: readonly string[], { stdin, on = keychain }: { stdin?: string; on?: Keychain } = {}) =>
    runRt({ program, args, stdin, env: on.env, cwd: project.path });
  const start = (args: readonly string[], on = keychain) =>
    startRt({ program, args, env: on.env, cwd: project.path });
  const output = (stdout: string) => ({ stdout, stderr: "", status: 0 });

  test("rt secrets stores, reads, lists and deletes", async () => {
    expect(await rt(["secrets", "set", "com.example", "ü/me"], { stdin: "correct horse" })).toEqual(
      output(""),
    );
    expect(await rt(["secrets", "get", "com.example", "ü/me"])).toEqual(output("correct horse"));
    expect(await rt(["secrets", "list", "com.example"])).toEqual(output("com.example\tü/me\n"));
    expect(await keychain.items()).not.toContain("correct horse");
    expect(await rt(["secrets", "delete", "com.example", "ü/me"])).toEqual(output(""));
    expect((await rt(["secrets", "get", "com.example", "ü/me"])).status).toBe(1);
  });

  test("rt secrets prints one error line and a hint, and exits with 2, when the keychain fails", async () => {
    await using locked = await startKeychain();
    await locked.rule({ on: "SecItemCopyMatching", does: "status", number: -25308 });
    const { stderr, status } = await rt(["secrets", "get", "a", "b"], { on: locked });
    expect({ stderr, status }).toEqual({
      stderr:
        "error: The keychain is locked or needs a confirmation, and cannot show a dialog\n" +
        "hint: run `security unlock-keychain` first, or use a session on the Mac's own screen\n",
      status: 2,
    });
  });

  test.each([
    ["a file", ["get.ts", "ways", "me"], undefined],
    ["the engine's own options", ["--smol", "get.ts", "ways", "me"], undefined],
    ["-p", ["-p", 'await rt.secrets.get("ways", "me")'], undefined],
    ["standard input", ["-"], `console.log(JSON.stringify(await rt.secrets.get("ways", "me")))`],
  ] as const)("the keychain works in %s", async (_way, args, stdin) => {
    await rt(["secrets", "set", "ways", "me"], { stdin: "value" });
    expect((await rt(args, { stdin })).stdout).toMatch(/^"?value"?\n$/);
  });

  test("rt.secrets works in a Worker", async () => {
    await rt(["secrets", "set", "threads", "me"], { stdin: "value" });
    for (const options of [[], ["--smol"]]) {
      expect(await rt([...options, "worker.ts"])).toEqual(output("value\n"));
    }
  });

  describe("the process", () => {
    test("a process exits when the last operation has ended", async () => {
      await project.write({
        "end.ts": `import { secrets } from "rt"; await secrets.get("a", "b"); process.on("exit", () => console.log("end"));`,
      });
      expect(await rt(["end.ts"])).toEqual(output("end\n"));
    });

    test("a process does not exit before operations that are not awaited", async () => {
      await using slow = await startKeychain();
      await slow.rule({ on: "SecItemAdd", does: "delay", number: 20 });
      await project.write({
        "unawaited.ts": `import { secrets } from "rt";
          for (let i = 0; i < 10; i++) void secrets.set("unawaited", "n" + i, "v" + i);
          setImmediate(() => void secrets.set("unawaited", "late", "v"));`,
      });
      expect(await rt(["unawaited.ts"], { on: slow })).toEqual(output(""));
      expect((await rt(["secrets", "list", "unawaited"], { on: slow })).stdout.split("\n")).toHaveLength(12);
    });

    test("a process exits with an open dialog when the operation was abandoned or process.exit() is called", async () => {
      await using asking = await startKeychain();
      await asking.rule({ on: "SecItemCopyMatching", does: "dialog" });
      await project.write({
        "given-up.ts": `import { secrets } from "rt";
          await secrets.get({ service: "a", name: "b", timeout: 50 }).catch(({ code }) => console.log(code));`,
        "exit.ts": `import { secrets } from "rt"; void secrets.get("a", "c"); process.stdin.once("data", () => process.exit(7));`,
      });
      expect(await rt(["given-up.ts"], { on: asking })).toEqual(output("ERR_SECRETS_TIMEOUT\n"));
      const child = Bun.spawn([...program, "exit.ts"], {
        cwd: project.path,
        env: { PATH: process.env.PATH!, ...asking.env },
        stdin: "pipe",
      });
      await asking.awaitCall("SecItemCopyMatching c");
      void child.stdin.write("\n");
      await child.stdin.end();
      expect(await child.exited).toBe(7);
    });

    test("a process ends on Ctrl-C with an open dialog", async () => {
      await using asking = await startKeychain();
      await asking.rule({ on: "SecItemCopyMatching", does: "dialog" });
      const child = start(["secrets", "get", "a", "b"], asking);
      await asking.awaitCall("SecItemCopyMatching b");
      child.kill("SIGINT");
      await child.exited;
      expect(child.signalCode).toBe("SIGINT");
    });

    test("a process prints an unhandled failure with its code and exits with 1", async () => {
      await using broken = await startKeychain();
      await broken.rule({ on: "SecItemCopyMatching", does: "status", number: -25307 });
      const { stdout, stderr, status } = await rt(["get.ts", "a", "b"], { on: broken });
      expect({ stdout, status }).toEqual({ stdout: "", status: 1 });
      expect(stderr).toContain("ERR_SECRETS_UNAVAILABLE");
    });
  });

  test("two processes that set one pair leave one credential", async () => {
    await project.write({
      "contend.ts": `import { secrets } from "rt";
        for (let i = 0; i < 25; i++) await secrets.set("contended", "me", process.argv[2] + i);`,
    });
    const results = await Promise.all([rt(["contend.ts", "a"]), rt(["contend.ts", "b"])]);
    expect(results).toEqual([output(""), output("")]);
    expect(await rt(["secrets", "list", "contended"])).toEqual(output("contended\tme\n"));
    expect((await rt(["secrets", "get", "contended", "me"])).stdout).toMatch(/^[ab]24$/);
  });

  /** Descriptors of three further threads: rt adds a thread where no operation ends for 100 ms, as on a busy machine. */
  const THREADS = 6;

  test("thousands of operations leave no file descriptor open", async () => {
    await project.write({
      "growth.ts": `import { secrets } from "rt"; import { readdirSync } from "node:fs";
        const round = async (count) => {
          for (let i = 0; i < count; i += 100)
            await Promise.all(Array.from({ length: 100 }, (_, j) => secrets.get("growth", "n" + j % 7)));
          return readdirSync("/proc/self/fd").length;
        };
        const before = await round(500);
        const after = await round(3000);
        console.log(after - before <= ${THREADS} || after - before);`,
    });
    expect(await rt(["growth.ts"])).toEqual(output("true\n"));
  }, 120_000);

  // The fake framework never clears released memory, so the scan finds any value that was not erased.
  test("the memory contains no byte of a value after set and get", async () => {
    const canaries = ["kept", "set", "get"].map(makeCanary);
    await project.write({
      "canary.ts": `import { secrets } from "rt";
        const [kept, stored, read] = ${SHOWN_CANARIES};
        globalThis.kept = new TextEncoder().encode(kept);
        await secrets.set("canary", "set", stored);
        await secrets.set("canary", "set", stored);
        if ((await secrets.get("canary", "get")) !== read) throw new Error("not the value");
        console.log("ready");
        setInterval(() => {}, 1e6);`,
    });
    await rt(["secrets", "set", "canary", "get"], { stdin: `✓${canaries[2]}` });
    await using child = start(["canary.ts", ...canaries.map(hideCanary)]);
    const counts = await countCanaries(child, canaries);
    expect(counts[0]).toBeGreaterThan(0); // proves that the scan finds a value that a program keeps
    expect(counts.slice(1)).toEqual([0, 0]);
  }, 120_000);

  describe("rt doctor", () => {
    async function examine(state: string) {
      await using examined = await startKeychain();
      await examined.setState(state);
      const { stdout, stderr, status } = await rt(["doctor", "--json"], { on: examined });
      expect(stderr).toBe("");
      expect(await examined.calls()).toEqual([]); // reads no credential
      const { installation: _, ...report } = JSON.parse(stdout);
      return { ...report, status } as {
        ready: boolean;
        store: string;
        status: number;
        checks: { name: string; status: string; found: string; remedy?: string }[];
      };
    }

    test("rt doctor reports an open keychain without a warning", async () => {
      expect(await examine("")).toEqual({
        ready: true,
        store: "Keychain",
        status: 0,
        checks: [
          {
            name: "default keychain",
            status: "ok",
            found: "/Users/tester/Library/Keychains/login.keychain-db, unlocked",
          },
          { name: "dialogs", status: "ok", found: "macOS can show them in this session" },
          { name: "signature", status: "ok", found: "com.example.rt, team TEAM123456" },
        ],
      });
    });

    test.each([
      ["locked", "is locked", "security unlock-keychain"],
      ["readonly", "is read-only", "writable"],
      ["nodefault", "There is no default keychain", "security default-keychain"],
    ])("rt doctor reports a keychain that is %s as a problem", async (state, found, remedy) => {
      const { ready, status, checks } = await examine(state);
      expect({ ready, status }).toEqual({ ready: false, status: 1 });
      expect(checks.map((each) => each.status)).toEqual(["problem", "ok", "ok"]);
      expect(checks[0]!.found).toContain(found);
      expect(checks[0]!.remedy).toContain(remedy);
    });

    test("rt doctor warns about a session without a screen and an ad-hoc signature", async () => {
      const { ready, checks } = await examine("nographics adhoc");
      expect(ready).toBe(true);
      expect(checks.map((each) => each.status)).toEqual(["ok", "warning", "warning"]);
      expect(checks[1]!.remedy).toContain("Always Allow");
      expect(checks[2]!.found).toBe("com.example.rt, signed ad hoc, without an identity");
    });
  });
});
