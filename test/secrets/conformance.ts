// Tests that every credential store behind `rt.secrets` must pass. Each store's test file opens its store and calls
// `testConformance`.
//
// The tested object has the API's three methods. It is the API over a provider in this process, or a proxy for a program on
// another system (test/windows).
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type CredentialName } from "../../platform/secrets/contract/secret-provider.ts";
import { openProvider } from "../../platform/secrets/secret-provider.ts";
import type { Secrets } from "rt";
import { createSecrets } from "../../src/secrets/api/secrets.ts";
import { PREPARATION_TIMEOUT } from "../support/programs/compiled.ts";
import type { Keyring } from "../support/keyring/keyring.ts";

export interface Store extends AsyncDisposable {
  readonly secrets: Secrets;
  list(service?: string): Promise<CredentialName[]>;
}

export interface Limits {
  /** The longest value in bytes of UTF-8 that the store must take. */
  maxValue?: number;
  /** The longest service and name in characters, where the test's system accepts less than rt. */
  maxName?: number;
  /** Number of operations in tests with many concurrent ones. */
  many?: number;
}

/** Tests a Linux keyring over the API in this process. */
export function testKeyring(label: string, start: () => Promise<Keyring>, limits?: Limits): void {
  const open = async (): Promise<Store> => {
    const keyring = await start();
    keyring.enter();
    const provider = await openProvider();
    return {
      list: (service) => provider.list!(service),
      secrets: createSecrets(async () => provider),
      [Symbol.asyncDispose]: () => keyring[Symbol.asyncDispose](),
    };
  };
  describe.skipIf(process.platform !== "linux")("a keyring", () => testConformance(label, open, limits));
}

export function testConformance(
  label: string,
  open: () => Promise<Store>,
  { maxValue = 4096, maxName = 255, many = 500 }: Limits = {},
): void {
  describe(`${label} conformance`, () => {
    let store: Store;
    let secrets: Secrets;
    let serial = 0;
    const freshName = () => `name ${++serial}`;
    const service = "dev.rt.conformance";

    beforeAll(async () => {
      store = await open();
      secrets = store.secrets;
    }, PREPARATION_TIMEOUT);
    afterAll(() => store?.[Symbol.asyncDispose]());

    /** Stores, reads and deletes a value; returns the read value. */
    async function passThrough(service: string, name: string, value: string): Promise<string | null> {
      await secrets.set(service, name, value);
      const read = await secrets.get(service, name);
      expect(await secrets.delete(service, name)).toBe(true);
      expect(await secrets.get(service, name)).toBe(null);
      return read;
    }

    test("get() returns null for a pair that was never stored", async () => {
      expect(await secrets.get(service, freshName())).toBe(null);
    });

    test("delete() returns true once and then false", async () => {
      const name = freshName();
      await secrets.set(service, name, "value");
      expect(await secrets.delete(service, name)).toBe(true);
      expect(await secrets.delete(service, name)).toBe(false);
      expect(await secrets.get(service, name)).toBe(null);
    });

    test("set() replaces a value by shorter and longer ones", async () => {
      const name = freshName();
      for (const value of ["first", "x", "a much longer value than the others", ""]) {
        await secrets.set(service, name, value);
        expect(await secrets.get(service, name)).toBe(value);
      }
      expect(await secrets.delete(service, name)).toBe(true);
      expect(await secrets.delete(service, name)).toBe(false);
    });

    test("every call form reaches the same credential", async () => {
      const options = { service, name: freshName() };
      await secrets.set({ ...options, value: "1" });
      expect(await secrets.get(options)).toBe("1");
      await secrets.set(options, "2");
      expect(await secrets.get(options.service, options.name)).toBe("2");
      await secrets.set(options.service, options.name, "3");
      expect(await secrets.get(options)).toBe("3");
      expect(await secrets.delete({ ...options, value: "ignored" } as typeof options)).toBe(true);
      expect(await secrets.delete(options.service, options.name)).toBe(false);
    });

    const VALUES: Record<string, string> = {
      "an empty value": "",
      "one character": "x",
      "umlauts, Greek and Japanese": "äöü ß Ελλάδα 日本語",
      "emoji with joiners": "👩‍👩‍👧‍👦🏳️‍🌈 🔑",
      "a composed and a decomposed character": "\u00e9 e\u0301",
      "a byte order mark": "\ufeffvalue\ufeff",
      "line breaks and tabs": "-----BEGIN KEY-----\r\nabc\n\tdef\n",
      "a NUL character": "before\0after\0",
      "control characters": "\x01\x02\x1b[31m\x7f",
      "quotes, markup and escapes": `"'\`$(x)\\n<a>&amp;%00{}`,
      "leading and trailing blanks": "  value  ",
      "text that looks like base64 and hex": "aGVsbG8= 68656c6c6f",
      "the replacement character": "\ufffd",
      "a value of one block of a cipher": "0123456789abcdef",
    };
    for (const [what, value] of Object.entries(VALUES)) {
      test(`a value keeps ${what}`, async () => {
        expect(await passThrough(service, freshName(), value)).toBe(value);
      });
    }

    test("a value of the maximum size is returned completely", async () => {
      const value = "0123456789abcdef".repeat(Math.ceil(maxValue / 16)).slice(0, maxValue);
      expect((await passThrough(service, freshName(), value)) === value).toBe(true);
    });

    const NAMES: Record<string, string> = {
      slashes: "a/b//c/",
      "an address": "user@example.com:443",
      "a URL": "https://example.com/?a=b&c=d#e",
      "blanks at both ends": " name ",
      "quotes and escapes": `"'\\n\`$x`,
      wildcards: "*?[a-z]%_",
      "reserved words of object models": "__proto__",
      unicode: "Jürgen 日本 🔑",
      "line breaks": "a\nb\r\nc",
      [`${maxName} characters`]: "n".repeat(maxName),
      [`${maxName} emoji`]: "🔑".repeat(maxName),
    };
    for (const [what, text] of Object.entries(NAMES)) {
      test(`service and name keep ${what}`, async () => {
        expect(await passThrough(text, "name", "value 1")).toBe("value 1");
        expect(await passThrough(service, text, "value 2")).toBe("value 2");
      });
    }

    test("pairs that look alike are different credentials", async () => {
      const pairs: [string, string][] = [
        ["a", "b"],
        ["b", "a"],
        ["a/b", "c"],
        ["a", "b/c"],
        ["a", "B"],
        ["A", "b"],
        ["a ", "b"],
        ["a", " b"],
        ["\u00e9", "x"],
        ["e\u0301", "x"],
      ];
      for (const [service, name] of pairs) await secrets.set(service, name, JSON.stringify([service, name]));
      for (const [service, name] of pairs)
        expect(await secrets.get(service, name)).toBe(JSON.stringify([service, name]));
      for (const [service, name] of pairs) expect(await secrets.delete(service, name)).toBe(true);
    });

    test("two names under one service are independent", async () => {
      const [first, second] = [freshName(), freshName()];
      await secrets.set(service, first, "1");
      await secrets.set(service, second, "2");
      expect(await secrets.delete(service, first)).toBe(true);
      expect(await secrets.get(service, second)).toBe("2");
      expect(await secrets.delete(service, second)).toBe(true);
    });

    test("list() returns every stored pair once, and no deleted one", async () => {
      const names = ["x", "y/z", "ü\n"];
      for (const name of names) await secrets.set("dev.rt.list", name, "value");
      await secrets.set("dev.rt.list.other", "x", "value");
      await secrets.set("dev.rt.list", "x", "another value");
      const named = async (service?: string) => {
        const found = await store.list(service);
        const ours = found.filter((each) => each.service.startsWith("dev.rt.list"));
        return ours.map(({ service, name }) => `${service} ${name}`).sort();
      };
      expect(await named("dev.rt.list")).toEqual(names.map((name) => `dev.rt.list ${name}`));
      expect(await named()).toEqual(
        [...names.map((name) => `dev.rt.list ${name}`), "dev.rt.list.other x"].sort(),
      );
      expect(await named("dev.rt.list.absent")).toEqual([]);
      for (const name of names) await secrets.delete("dev.rt.list", name);
      expect(await named()).toEqual(["dev.rt.list.other x"]);
      await secrets.delete("dev.rt.list.other", "x");
    });

    test(`${many} concurrent operations succeed`, async () => {
      const names = Array.from({ length: many / 4 }, (_, index) => `many ${index}`);
      const results = await Promise.all(
        names.map((name) =>
          Promise.all([
            secrets.set(service, name, `value of ${name}`),
            secrets.get(service, name),
            secrets.delete(service, name),
            secrets.get(service, name),
          ]),
        ),
      );
      expect(results).toEqual(names.map((name) => [undefined, `value of ${name}`, true, null]));
    });

    test("operations on one pair happen in the order of their calls", async () => {
      const name = freshName();
      const results: Promise<unknown>[] = [];
      for (let index = 0; index < 20; index++) {
        results.push(secrets.set(service, name, `value ${index}`), secrets.get(service, name));
      }
      results.push(secrets.delete(service, name), secrets.get(service, name), secrets.delete(service, name));
      const expected = Array.from({ length: 20 }, (_, index) => [undefined, `value ${index}`]).flat();
      expect(await Promise.all(results)).toEqual([...expected, true, null, false]);
    });
  });
}
