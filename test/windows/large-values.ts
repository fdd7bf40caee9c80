// Tests values that need several entries of the Credential Manager: split, complete, and never mixed. Part of
// secrets.test.ts, because a second Wine would take longer than the tests.
import { beforeAll, describe, expect, test } from "bun:test";
import type { RtResult } from "../support/rt.ts";
import type { WindowsStore } from "./store.ts";

const repeat = (text: string, length: number) =>
  text.repeat(Math.ceil(length / text.length)).slice(0, length);
const ENTRY = 2560;

/** Files in the working directory of `rt`. */
export const LARGE_VALUE_PROGRAMS: Record<string, string> = {
  "replace.ts": `import { secrets } from "rt";
    const [name, first, second, rounds] = process.argv.slice(2);
    for (let i = 0; i < Number(rounds); i++) {
      await secrets.set("replaced", name, (i % 2 ? second : first).repeat(9000));
    }`,
  // Each call to Windows is a message to the thread that makes it.
  "die.ts": `import { secrets } from "rt";
    const [name, calls] = process.argv.slice(2);
    let left = Number(calls) + 1; // the first message opens the libraries
    const { postMessage } = Worker.prototype;
    Worker.prototype.postMessage = function (...args) {
      if (left-- === 0) process.kill(process.pid, "SIGKILL");
      return postMessage.apply(this, args);
    };
    await secrets.set("killed", name, "b".repeat(${ENTRY} + 1));`,
  "read.ts": `import { secrets } from "rt";
    const seen = new Set<string>();
    for (let i = 0; i < 100; i++) seen.add((await secrets.get("replaced", process.argv[2]!))!.replace(/(.)\\1+/g, "$1"));
    console.log([...seen].every((each) => each === "a" || each === "b"));`,
};

export interface LargeValueStore {
  readonly store: WindowsStore;
  rt(...args: string[]): Promise<RtResult>;
  /** Returns the targets that contain `part`. */
  targets(part: string): Promise<string[]>;
}

/** @param opened called when the tests run */
export function testLargeValues(opened: () => LargeValueStore): void {
  describe("a value that needs several entries", () => {
    let store: WindowsStore;
    let rt: LargeValueStore["rt"];
    let targets: LargeValueStore["targets"];
    beforeAll(() => {
      ({ store, rt, targets } = opened());
    });
    const service = "large";
    const entries = () => targets("large");

    test("needs as few entries as possible, is read completely, and leaves no part behind", async () => {
      for (const [length, count] of [
        [ENTRY, 1],
        [ENTRY + 1, 3],
        [2 * ENTRY, 3],
        [2 * ENTRY + 1, 4],
        [100, 1],
        [20 * ENTRY - 1, 21],
        [ENTRY + 2, 3],
        [0, 1],
      ] as const) {
        const value = repeat("0123456789äöü🔑", length);
        const bytes = Buffer.byteLength(value);
        const wanted = length === 100 || length === 0 ? 1 : bytes <= ENTRY ? 1 : 1 + Math.ceil(bytes / ENTRY);
        await store.secrets.set(service, "me", value);
        expect((await store.secrets.get(service, "me")) === value).toBe(true);
        expect(await entries()).toHaveLength(wanted);
        expect(wanted).toBeGreaterThanOrEqual(count);
      }
      expect(await store.secrets.delete(service, "me")).toBe(true);
      expect(await entries()).toEqual([]);
    });

    test("uses one entry up to its size, and fails above the maximum size", async () => {
      await store.secrets.set(service, "fits", "x".repeat(ENTRY));
      expect(await entries()).toEqual(["large/fits"]);
      const tooLarge = "x".repeat(256 * ENTRY + 1);
      await expect(store.secrets.set(service, "fits", tooLarge)).rejects.toMatchObject({
        name: "SecretsError",
        code: "ERR_SECRETS_TOO_LARGE",
      });
      expect(await store.secrets.get(service, "fits")).toBe("x".repeat(ENTRY));
      await store.secrets.delete(service, "fits");
    });

    test("appears once in `rt secrets list`", async () => {
      await store.secrets.set(service, "listed", "x".repeat(9000));
      const { stdout } = await rt("secrets", "list", "large");
      expect(stdout).toBe("large\tlisted\n");
      await store.secrets.delete(service, "listed");
    });

    test("describes itself to other programs, and yields to their value", async () => {
      await store.secrets.set(service, "bun", "x".repeat(9000));
      const account = { service, name: "bun" };
      expect(await store.bun.get(account)).toStartWith("rt: value of 9000 bytes in 4 parts");
      await store.bun.set({ ...account, value: "small" });
      expect(await store.secrets.get(service, "bun")).toBe("small");
      await store.secrets.set(service, "bun", "smaller");
      expect(await entries()).toEqual(["large/bun"]);
      await store.secrets.delete(service, "bun");
    });

    test("may look like the description of a value", async () => {
      const text = "rt: value of 9000 bytes in 4 parts at a, 00000000-0000-0000-0000-000000000000";
      await store.secrets.set(service, "words", text);
      expect(await store.secrets.get(service, "words")).toBe(text);
      await store.secrets.delete(service, "words");
    });

    test("fails with a missing part until it is stored again", async () => {
      await store.secrets.set(service, "damaged", "x".repeat(9000));
      expect(await store.raw.delete("rt:large/damaged#a3")).toBe(true);
      await expect(store.secrets.get(service, "damaged")).rejects.toMatchObject({
        code: "ERR_SECRETS_PLATFORM",
        message: expect.stringContaining("Part 3 of 4"),
      });
      await store.secrets.set(service, "damaged", "y".repeat(9000));
      expect(await store.secrets.get(service, "damaged")).toBe("y".repeat(9000));
      await store.secrets.delete(service, "damaged");
    });

    // Between two calls, because Wine, unlike Windows, writes an entry in several steps.
    test("keeps the old or the new value when its writer dies after any call", async () => {
      const [before, after] = ["a", "b"].map((letter) => letter.repeat(ENTRY + 1));
      const seen: string[] = [];
      for (let calls = 0, isDone = false; !isDone; calls += 4) {
        const names = [0, 1, 2, 3].map((more) => `dies after ${calls + more}`);
        for (const name of names) await store.secrets.set("killed", name, before!);
        const results = await Promise.all(
          names.map((name, more) => rt("die.ts", name, String(calls + more))),
        );
        isDone = results.some(({ status }) => status === 0);
        for (const name of names) {
          const found = (await store.secrets.get("killed", name)) ?? "nothing";
          expect([before, after]).toContain(found);
          seen.push(found[0]!);
          await store.secrets.set("killed", name, "x");
        }
      }
      expect((await targets("dies after")).filter((target) => target.includes("#"))).toEqual([]);
      expect(await targets("dies after")).toHaveLength(seen.length);
      expect(new Set(seen)).toEqual(new Set(["a", "b"]));
      expect(seen.length).toBeGreaterThan(15);
    });

    test("stays complete for a reader while two writers replace it", async () => {
      await store.secrets.set("replaced", "shared", "a".repeat(9000));
      const writers = ["a", "b"].map(() => rt("replace.ts", "shared", "a", "b", "12"));
      expect(await rt("read.ts", "shared")).toEqual({ stdout: "true\n", stderr: "", status: 0 });
      for (const { status, stderr } of await Promise.all(writers)) expect([status, stderr]).toEqual([0, ""]);
      expect(await targets("shared")).toHaveLength(5);
    });
  });
}
