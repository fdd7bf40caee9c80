// The compiled `rt` with a real GNOME Keyring: how a process exits, and what it leaves in the keyring and in its memory.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { FakeSecretService } from "../../support/keyring/fake-secret-service.ts";
import { type Keyring, startKeyring } from "../../support/keyring/keyring.ts";
import {
  countCanaries,
  countInMemory,
  hideCanary,
  makeCanary,
  SHOWN_CANARIES,
} from "../../support/programs/memory.ts";
import { createProject, type Project } from "../../support/project.ts";
import { runRt, startRt } from "../../support/rt.ts";

const PROGRAMS: Record<string, string> = {
  "get.ts": `import { secrets } from "rt"; console.log(JSON.stringify(await secrets.get(process.argv[2], process.argv[3])));`,
  "set.ts": `import { secrets } from "rt"; await secrets.set(process.argv[2], process.argv[3], process.argv[4]);`,
  "delete.ts": `import { secrets } from "rt"; console.log(await secrets.delete(process.argv[2], process.argv[3]));`,
  "forms.ts": `const viaModule = (await import("rt")).secrets; const viaRequire = require("rt").secrets;
    console.log(viaModule === rt.secrets, viaRequire === rt.secrets, Object.keys(rt.secrets).sort().join());`,
};

describe.skipIf(process.platform !== "linux")("rt.secrets in a process", () => {
  let keyring: Keyring;
  let project: Project;
  beforeAll(async () => {
    [keyring, project] = await Promise.all([startKeyring(), createProject(PROGRAMS)]);
  });
  afterAll(async () => {
    await project?.[Symbol.asyncDispose]();
    await keyring?.[Symbol.asyncDispose]();
  });

  const rt = (program: string, ...args: string[]) =>
    runRt({ args: [project.join(program), ...args], cwd: project.path, env: keyring.env });
  const output = (stdout: string) => ({ stdout, stderr: "", status: 0 });

  test("every way to get rt.secrets returns the same object", async () => {
    expect(await rt("forms.ts")).toEqual(output("true true delete,get,set\n"));
  });

  test("a keyring program shows one entry with a label", async () => {
    await rt("set.ts", "shown", "me", "value");
    const shown = await keyring.run(["secret-tool", "search", "--all", "service", "shown"]);
    expect(shown).toContain("label = shown/me");
    expect(shown).toContain("secret = value");
    expect(shown.match(/^\[/gm)).toHaveLength(1);
  });

  describe("the process", () => {
    test("exits when the last operation has ended", async () => {
      await using project = await createProject({
        "main.ts": `import { secrets } from "rt"; await secrets.get("a", "b"); process.on("exit", () => console.log("end"));`,
      });
      const result = await runRt({ args: [project.join("main.ts")], env: keyring.env });
      expect(result).toEqual(output("end\n"));
    });

    test("waits for operations without await before it exits", async () => {
      await using project = await createProject({
        "main.ts": `import { secrets } from "rt";
          for (let i = 0; i < 20; i++) void secrets.set("unawaited", "n" + i, "v" + i);
          setImmediate(() => void secrets.set("unawaited", "late", "v"));`,
      });
      expect(await runRt({ args: [project.join("main.ts")], env: keyring.env })).toEqual(output(""));
      expect(await rt("get.ts", "unawaited", "n19")).toEqual(output('"v19"\n'));
      expect(await rt("get.ts", "unawaited", "late")).toEqual(output('"v"\n'));
    });

    test("prints an unhandled failure with its code and exits with 1", async () => {
      const result = await runRt({ args: [project.join("get.ts"), "a", "b"], env: {} });
      expect(result.status).toBe(1);
      expect(result.stderr).toContain("ERR_SECRETS_UNAVAILABLE");
      expect(result.stdout).toBe("");
    });

    test("loads nothing from the working directory", async () => {
      const trap = `require("node:fs").writeFileSync(__dirname + "/loaded", "yes"); module.exports = {};`;
      const files = Object.fromEntries(
        ["usocket", "x11", "dbus-next", "long", "jsbi", "safe-buffer", "put", "abstract-socket"].map(
          (name) => [`node_modules/${name}/index.js`, trap.replace("/loaded", `/../../loaded-${name}`)],
        ),
      );
      await using project = await createProject({ ...files, "main.ts": PROGRAMS["get.ts"]! });
      const result = await runRt({ args: ["main.ts", "a", "b"], cwd: project.path, env: keyring.env });
      expect(result).toEqual(output("null\n"));
      const loaded = new Bun.Glob("loaded-*").scanSync(project.path);
      expect([...loaded]).toEqual([]);
    });
  });

  test("two processes that set one pair leave one credential", async () => {
    await using project = await createProject({
      "main.ts": `import { secrets } from "rt";
        for (let i = 0; i < 25; i++) await secrets.set("contended", "me", process.argv[2] + i);`,
    });
    const run = (label: string) => runRt({ args: [project.join("main.ts"), label], env: keyring.env });
    expect(await Promise.all([run("a"), run("b")])).toEqual([output(""), output("")]);
    expect((await rt("get.ts", "contended", "me")).stdout).toMatch(/^"[ab]24"\n$/);
    const shown = await keyring.run(["secret-tool", "search", "--all", "service", "contended"]);
    expect(shown.match(/^\[/gm)).toHaveLength(1);
  });

  test("thousands of operations leave no descriptor open and no memory allocated", async () => {
    await using project = await createProject({
      "main.ts": `import { secrets } from "rt"; import { readdirSync } from "node:fs"; import { heapStats } from "bun:jsc";
        const round = async (count) => {
          for (let i = 0; i < count; i += 100) {
            await Promise.all(Array.from({ length: 100 }, (_, j) => secrets.get("growth", "n" + j % 7)));
          }
          Bun.gc(true);
          const memory = { heap: heapStats().heapSize, all: process.memoryUsage().rss };
          return { files: readdirSync("/proc/self/fd").length, ...memory };
        };
        await secrets.set("growth", "n0", "value");
        // The heap grows in the first five rounds. Then memory rises and falls, most on a busy machine. So this compares
        // the least of four rounds with the least of the next four.
        const rounds = [];
        for (let i = 0; i < 13; i++) rounds.push(await round(1000));
        const least = (some, key) => Math.min(...some.map((each) => each[key]));
        const growth = (key) => least(rounds.slice(-4), key) - least(rounds.slice(5, 9), key);
        console.log(rounds.at(-1).files - rounds[1].files, growth("heap") < 2 ** 18, growth("all") < 2 ** 23);`,
    });
    expect(await runRt({ args: [project.join("main.ts")], env: keyring.env })).toEqual(
      output("0 true true\n"),
    );
  }, 300_000);

  test("the memory contains no byte of a value after set and get, for long values and several ones", async () => {
    const what = ["kept", "set", "get", "set long", "get long", ...Array.from({ length: 4 }, () => "many")];
    const canaries = what.map(makeCanary);
    await using project = await createProject({
      "main.ts": `import { secrets } from "rt";
        const [kept, stored, read, storedLong, readLong, ...many] = ${SHOWN_CANARIES};
        globalThis.kept = new TextEncoder().encode(kept);
        const expected = (value, wanted) => { if (!value.startsWith(wanted)) throw new Error("not the value"); };
        await secrets.set("canary", "set", stored);
        expected(await secrets.get("canary", "2"), read);
        await secrets.set("canary", "set long", storedLong.padEnd(5000, "."));
        expected(await secrets.get("canary", "4"), readLong);
        const values = await Promise.all(many.map((_, index) => secrets.get("canary", String(index + 5))));
        for (const [index, value] of values.entries()) expected(value, many[index]);
        console.log("ready");
        setInterval(() => {}, 1e6);`,
    });
    for (const [index, canary] of canaries.entries()) {
      const value = `✓${canary}`.padEnd(what[index] === "get long" ? 5000 : 0, ".");
      await keyring.run(
        ["secret-tool", "store", "--label=x", "service", "canary", "account", `${index}`],
        value,
      );
    }
    const args = [project.join("main.ts"), ...canaries.map(hideCanary)];
    await using child = startRt({ args, env: keyring.env });
    const counts = await countCanaries(child, canaries);
    expect(counts[0]).toBeGreaterThan(0); // proves that the scan finds a value that a program keeps
    expect(counts.slice(1)).toEqual(canaries.slice(1).map(() => 0));
  });

  // One copy is the one to store; the other is the engine's read buffer, which rt cannot clear.
  test("`rt secrets set` keeps no other copy of its input", async () => {
    await using session = await startKeyring({ service: "none" });
    await using fake = await FakeSecretService.start(session.address);
    const canary = makeCanary("typed");
    fake.silent.add("ReadAlias");
    const called = fake.called("ReadAlias");
    await using child = startRt({
      args: ["secrets", "set", "a", "b"],
      stdin: `✓${canary}\n`,
      env: session.env,
    });
    await called;
    expect(await countInMemory(child.pid, [canary])).toEqual([2]);
  });
});
