// Tests `rt.secrets` of the Windows binary. See large-values.ts for values in several parts, and conformance.test.ts for
// the conformance suite.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { PREPARATION_TIMEOUT } from "../support/programs/compiled.ts";
import { countCanaries, hideCanary, makeCanary, SHOWN_CANARIES } from "../support/programs/memory.ts";
import { createProject, type Project } from "../support/project.ts";
import { canRunWindows, isWine, openWindows, type Windows } from "../support/programs/windows.ts";
import { LARGE_VALUE_PROGRAMS, testLargeValues } from "./large-values.ts";
import { openStore, type WindowsStore } from "./store.ts";

/** Needs Linux' access to another process. */
const testOnWine = test.skipIf(!isWine);

const utf8 = (text: string) => Buffer.from(text).toString("hex");
const utf16 = (text: string) => Buffer.from(text, "utf16le").toString("hex");

const PROGRAMS: Record<string, string> = {
  "unawaited.ts": `import { secrets } from "rt";
    for (let i = 0; i < 20; i++) void secrets.set("unawaited", "n" + i, "v" + i);
    setImmediate(() => void secrets.set("unawaited", "late", "v"));`,
  "end.ts": `import { secrets } from "rt";
    await secrets.get("a", "b");
    process.on("exit", () => console.log("end"));`,
  "give-up.ts": `import { secrets } from "rt";
    await secrets.set({ service: "held", name: "me", value: "x", timeout: 200 }).catch(({ code }) => console.log(code));`,
  "use.ts": `import { secrets, CSRF } from "rt";
    await secrets.set("used", "me", process.argv.at(-1)!);
    console.log(await secrets.get("used", "me"), rt.CSRF.verify(CSRF.generate("key"), { secret: "key" }));`,
  "worker.ts": `import { secrets } from "rt"; postMessage(await secrets.get("used", "me"));`,
  "main.ts": `new Worker(new URL("./worker.ts", import.meta.url)).onmessage = ({ data }) => { console.log(data); process.exit(0); };`,
  "canary.ts": `import { secrets } from "rt";
    const [kept, set, get, setLarge, getLarge] = ${SHOWN_CANARIES};
    globalThis.kept = new TextEncoder().encode(kept);
    await secrets.set("canary", "set", set);
    await secrets.set("canary", "set large", setLarge.padEnd(9000, "."));
    if ((await secrets.get("canary", "get")) !== get) throw new Error("not the value");
    if (!(await secrets.get("canary", "get large")).startsWith(getLarge)) throw new Error("not the value");
    console.log("ready");
    setInterval(() => {}, 1e6);`,
  // Operations that wait for another one and time out.
  "given-up.ts": `import { secrets } from "rt";
    const [kept, given] = ${SHOWN_CANARIES};
    globalThis.kept = new TextEncoder().encode(kept);
    void secrets.set("held", "turn", "first");
    const codes = await Promise.all([1, 2, 3, 4, 5].map(() =>
      secrets.set({ service: "held", name: "turn", value: given, timeout: 50 }).catch(({ code }) => code)));
    if (codes.some((code) => code !== "ERR_SECRETS_TIMEOUT")) throw new Error(codes.join());
    console.log("ready");
    setInterval(() => {}, 1e6);`,
  // Each call to Windows is a message to the thread that makes it.
  "free.ts": `import { secrets } from "rt";
    const counts: Record<string, number> = {};
    const { postMessage } = Worker.prototype;
    Worker.prototype.postMessage = function (...args) {
      if (Array.isArray(args[0])) counts[args[0][0]] = (counts[args[0][0]] ?? 0) + 1;
      return postMessage.apply(this, args);
    };
    const values = [await secrets.get("freed", "me"), await secrets.get("freed", "me")];
    console.log(values.join(), counts.CredReadW, counts.CredFree);`,
  "collide.ts": `import { secrets } from "rt";
    const name = process.argv[2]!;
    for (let i = 0; i < 20; i++) {
      await secrets.set("collide" + i, name, name);
    }`,
};

const GIVE_UP = `const wait = new AbortController(); setTimeout(() => wait.abort(), 100);
  await rt.secrets.set({ service: "held", name: "you", value: "x", signal: wait.signal }).catch(({ name }) => name)`;

describe.skipIf(!canRunWindows)("rt.secrets on Windows", () => {
  let windows: Windows;
  let store: WindowsStore;
  let project: Project;
  beforeAll(async () => {
    windows = await openWindows();
    store = openStore(windows);
    project = await createProject({ ...PROGRAMS, ...LARGE_VALUE_PROGRAMS });
  }, PREPARATION_TIMEOUT);
  afterAll(async () => {
    await store?.[Symbol.asyncDispose]();
    await windows?.[Symbol.asyncDispose]();
    await project?.[Symbol.asyncDispose]();
  });

  const rt = (...args: string[]) => windows.run({ args, cwd: project.path });
  const targets = async (part: string) => (await store.raw.list()).filter((target) => target.includes(part));

  describe("an entry", () => {
    test("gets the generic type, the enterprise scope and Bun's target", async () => {
      await store.secrets.set("layout", "me", "pässword");
      expect(await store.raw.read("layout/me")).toEqual({
        type: 1,
        target: "layout/me",
        userName: "me",
        persist: 3,
        blob: utf8("pässword"),
      });
    });

    test("stays on this computer with the option for it", async () => {
      await store.secrets.set({ service: "layout", name: "local", value: "x", persist: "local" });
      expect((await store.raw.read("layout/local"))?.persist).toBe(2);
      await store.secrets.set("layout", "local", "y");
      expect((await store.raw.read("layout/local"))?.persist).toBe(3);
      const wrong = { service: "layout", name: "local", value: "x", persist: "session" as "local" };
      await expect(store.secrets.set(wrong)).rejects.toMatchObject({ code: "ERR_INVALID_ARG_VALUE" });
    });

    test("reaches Bun, and Bun's reaches rt", async () => {
      const account = { service: "interop", name: "me" };
      await store.secrets.set("interop", "me", "von rt ü");
      expect(await store.bun.get(account)).toBe("von rt ü");
      await store.bun.set({ ...account, value: "from bun" });
      expect(await store.secrets.get("interop", "me")).toBe("from bun");
      expect(await store.secrets.delete("interop", "me")).toBe(true);
      expect(await store.bun.get(account)).toBe(null);
    });

    test("may be keytar's, with the same layout", async () => {
      await store.raw.write({ target: "keytar/me", userName: "me", blob: utf8("from keytar ü") });
      expect(await store.secrets.get("keytar", "me")).toBe("from keytar ü");
    });

    test("may be in UTF-16, like cmdkey's", async () => {
      for (const value of ["plain", "pässwörd €", "日本語 🔑"]) {
        await store.raw.write({ target: "cmdkey/me", userName: "me", blob: utf16(value) });
        expect(await store.secrets.get("cmdkey", "me")).toBe(value);
      }
      await store.secrets.set("cmdkey", "me", "now\0UTF-8\0");
      expect(await store.secrets.get("cmdkey", "me")).toBe("now\0UTF-8\0");
    });

    test("causes an error, and stays, with an unknown encoding", async () => {
      await store.raw.write({ target: "binary/me", userName: "me", blob: "ff00ff" });
      await expect(store.secrets.get("binary", "me")).rejects.toMatchObject({ code: "ERR_SECRETS_PLATFORM" });
      expect((await store.raw.read("binary/me"))?.blob).toBe("ff00ff");
    });

    test("keeps apart from the entries of Python's keyring", async () => {
      const entries = [
        { target: "python", userName: "me", blob: utf16("x"), persist: 3 },
        { target: "me@python", userName: "me", blob: utf16("y"), persist: 3 },
      ];
      for (const entry of entries) await store.raw.write(entry);
      expect(await store.secrets.get("python", "me")).toBe(null);
      expect(await store.secrets.delete("python", "me")).toBe(false);
      await store.secrets.set("python", "me", "ours");
      expect(await store.secrets.delete("python", "me")).toBe(true);
      for (const entry of entries) expect(await store.raw.read(entry.target)).toMatchObject(entry);
    });

    test("stays untouched when it is another program's at the same target", async () => {
      const entry = { target: "taken/me", userName: "somebody", blob: utf8("theirs"), persist: 2 };
      await store.raw.write(entry);
      expect(await store.secrets.get("taken", "me")).toBe(null);
      await store.secrets.set("taken", "me", "ours");
      expect(await store.secrets.get("taken", "me")).toBe("ours");
      expect(await store.raw.read("taken/me")).toMatchObject(entry);
      expect(await targets("taken")).toEqual(["rt:taken/me", "taken/me"]);
      expect(await store.secrets.delete("taken", "me")).toBe(true);
      expect(await store.secrets.delete("taken", "me")).toBe(false);
      expect(await targets("taken")).toEqual(["taken/me"]);
    });
  });

  describe("names that share a target", () => {
    test("find their own value of Bun", async () => {
      await store.bun.set({ service: "share/a", name: "b", value: "1" });
      expect(await store.secrets.get("share/a", "b")).toBe("1");
      expect(await store.secrets.get("share", "a/b")).toBe(null);
      await store.secrets.set("share", "a/b", "2");
      expect(await store.secrets.get("share/a", "b")).toBe("1");
      expect(await store.secrets.delete("share/a", "b")).toBe(true);
      expect(await store.secrets.get("share", "a/b")).toBe("2");
      // rt does not move the value to the free target.
      await store.secrets.set("share", "a/b", "3");
      expect(await targets("share")).toEqual(["rt:share/a%2fb"]);
    });

    test("return to the plain target when Bun has written there", async () => {
      await store.raw.write({ target: "back/me", userName: "else", blob: utf8("x") });
      await store.secrets.set("back", "me", "escaped");
      await store.raw.delete("back/me");
      await store.bun.set({ service: "back", name: "me", value: "from bun" });
      expect(await store.secrets.get("back", "me")).toBe("from bun");
      await store.secrets.set("back", "me", "one");
      expect(await targets("back")).toEqual(["back/me"]);
    });

    test("get escaped when they look like rt's targets", async () => {
      await store.secrets.set("rt:a", "b", "1");
      await store.secrets.set("RT:a", "b", "2");
      expect(await store.secrets.get("rt:a", "b")).toBe("1");
      expect(await store.secrets.get("RT:a", "b")).toBe("2");
      expect(await targets("%3aa")).toEqual(["rt:%52%54%3aa/b", "rt:rt%3aa/b"]);
    });

    test("stay separate when two processes store them at once", async () => {
      const results = await Promise.all([rt("collide.ts", "me"), rt("collide.ts", "ME")]);
      for (const result of results) expect(result).toEqual({ stdout: "", stderr: "", status: 0 });
      for (let i = 0; i < 20; i++) {
        expect(await store.secrets.get(`collide${i}`, "me")).toBe("me");
        expect(await store.secrets.get(`collide${i}`, "ME")).toBe("ME");
      }
    });
  });

  testLargeValues(() => ({ store, rt, targets }));

  describe("a process", () => {
    test("ends by itself, but not before pending operations", async () => {
      const [ended, unawaited] = await Promise.all([rt("end.ts"), rt("unawaited.ts")]);
      expect(ended).toEqual({ stdout: "end\n", stderr: "", status: 0 });
      expect(unawaited).toEqual({ stdout: "", stderr: "", status: 0 });
      expect(await store.secrets.get("unawaited", "n19")).toBe("v19");
      expect(await store.secrets.get("unawaited", "late")).toBe("v");
    });

    test("stops waiting at a timeout, and ends although the lock is held", async () => {
      const kept = { service: "held", name: "kept" };
      await store.secrets.set({ ...kept, value: "kept" });
      await store.raw.lock();
      const late = { service: "held", name: "late" };
      const code = "ERR_SECRETS_TIMEOUT";
      await expect(store.secrets.set({ ...late, value: "x", timeout: 100 })).rejects.toMatchObject({ code });
      await expect(store.secrets.delete({ ...kept, timeout: 100 })).rejects.toMatchObject({ code });
      const results = await Promise.all([rt("give-up.ts"), rt("-p", GIVE_UP)]);
      expect(results).toEqual([
        { stdout: "ERR_SECRETS_TIMEOUT\n", stderr: "", status: 0 },
        { stdout: "AbortError\n", stderr: "", status: 0 },
      ]);
      await store.raw.unlock();
      // This write comes after the timed-out operation, which would have found the lock free.
      expect([await store.secrets.get(late), await store.secrets.get(kept)]).toEqual([null, "kept"]);
    });

    testOnWine("leaves no byte of a value in its memory after set and get, of one part or more", async () => {
      const canaries = ["kept", "set", "get", "set large", "get large"].map(makeCanary);
      const [, , read, , readLarge] = canaries;
      await store.secrets.set("canary", "get", `✓${read}`);
      await store.secrets.set("canary", "get large", `✓${readLarge}`.padEnd(9000, "."));
      const args = ["canary.ts", ...canaries.map(hideCanary)];
      const child = windows.start({ args, cwd: project.path });
      const [kept, ...others] = await countCanaries(child, canaries);
      await child.exited;
      expect(kept).toBeGreaterThan(0); // proves that the scan finds values
      expect(others).toEqual([0, 0, 0, 0]);
    });

    testOnWine("leaves no byte of a value whose operation timed out", async () => {
      const canaries = ["kept", "given up"].map(makeCanary);
      await store.raw.lock();
      const child = windows.start({
        args: ["given-up.ts", ...canaries.map(hideCanary)],
        cwd: project.path,
      });
      const [kept, given] = await countCanaries(child, canaries);
      await child.exited;
      await store.raw.unlock();
      expect(kept).toBeGreaterThan(0);
      expect(given).toBe(0);
    });

    test("frees each entry of Windows", async () => {
      await store.secrets.set("freed", "me", "value");
      expect(await rt("free.ts")).toEqual({ stdout: "value,value 2 2\n", stderr: "", status: 0 });
    });

    test("loads no library from the working directory", async () => {
      const names = ["advapi32.dll", "kernel32.dll", "winregistry.node"];
      await using trap = await createProject({
        ...PROGRAMS,
        ...Object.fromEntries(names.map((name) => [name, "no library"])),
      });
      const started = await windows.run({ args: ["end.ts"], cwd: trap.path });
      expect(started).toEqual({ stdout: "end\n", stderr: "", status: 0 });
    });

    test("provides secrets and CSRF however it was started", async () => {
      const expected = (value: string) => ({ stdout: `${value} true\n`, stderr: "", status: 0 });
      const use = PROGRAMS["use.ts"]!;
      expect(await rt("use.ts", "1")).toEqual(expected("1"));
      expect(await rt("--smol", "use.ts", "2")).toEqual(expected("2"));
      expect(await rt("-e", use, "3")).toEqual(expected("3"));
      const fromInput = use.replace("process.argv.at(-1)!", '"4"');
      expect(await windows.run({ args: ["run", "-"], cwd: project.path, input: fromInput })).toEqual(
        expected("4"),
      );
      expect(await rt("main.ts")).toEqual({ stdout: "4\n", stderr: "", status: 0 });
      expect(await rt("--smol", "main.ts")).toEqual({ stdout: "4\n", stderr: "", status: 0 });
    });
  });
});
