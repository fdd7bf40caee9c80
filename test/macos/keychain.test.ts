// macOS's keychain: the real one on a Mac; on other systems a fake of Apple's frameworks with configurable failures.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { SecretProvider } from "../../platform/secrets/contract/secret-provider.ts";
import type { Secrets } from "rt";
import {
  importWithStandIn,
  type ItemFunction,
  type Keychain,
  type StandIn,
  startKeychain,
} from "../support/keyring/keychain.ts";
import { testConformance } from "../secrets/conformance.ts";
import * as real from "./secrets-module.ts";

const IS_MAC = process.platform === "darwin";

testConformance(IS_MAC ? "Keychain" : "Keychain stand-in", async () => {
  if (IS_MAC) return { ...(await open(real)), [Symbol.asyncDispose]: async () => {} };
  const [standIn, keychain] = await Promise.all([importWithStandIn(), startKeychain()]);
  standIn.use(keychain);
  return { ...(await open(standIn)), [Symbol.asyncDispose]: () => keychain[Symbol.asyncDispose]() };
});

async function open({ openProvider, createSecrets }: typeof real) {
  const provider = await openProvider();
  return {
    provider,
    secrets: createSecrets(async () => provider),
    list: (service?: string) => provider.list!(service),
  };
}

if (IS_MAC) {
  test("Bun and rt read each other's credentials in the keychain", async () => {
    const { secrets } = await open(real);
    const account = { service: "dev.rt.interop", name: "me" };
    await secrets.set({ ...account, value: "von rt ü" });
    expect(await Bun.secrets.get(account)).toBe("von rt ü");
    await Bun.secrets.set({ ...account, value: "from bun" });
    expect(await secrets.get(account)).toBe("from bun");
    expect(await secrets.delete(account)).toBe(true);
    expect(await Bun.secrets.get(account)).toBe(null);
  });
}

describe.skipIf(IS_MAC)("a keychain", () => {
  let standIn: StandIn;
  let keychain: Keychain;
  let secrets: Secrets;
  let provider: SecretProvider;

  beforeAll(async () => {
    standIn = await importWithStandIn();
    ({ secrets, provider } = await open(standIn));
  });
  beforeAll(renew);
  afterEach(renew);
  afterAll(() => keychain?.[Symbol.asyncDispose]());

  async function renew(): Promise<void> {
    await keychain?.[Symbol.asyncDispose]();
    keychain = await startKeychain();
    standIn.use(keychain);
  }

  /** The error code and a word of the hint for each status of the Security framework. */
  const STATUSES: readonly [status: number, code: string, remedy: RegExp][] = [
    [-128, "ERR_SECRETS_CANCELED", /Always Allow/],
    [-60006, "ERR_SECRETS_CANCELED", /Always Allow/],
    [-25308, "ERR_SECRETS_LOCKED", /security unlock-keychain/],
    [-25315, "ERR_SECRETS_LOCKED", /security unlock-keychain/],
    [-60007, "ERR_SECRETS_LOCKED", /security unlock-keychain/],
    [-25320, "ERR_SECRETS_LOCKED", /wake/],
    [-25293, "ERR_SECRETS_DENIED", /Access Control/],
    [-60005, "ERR_SECRETS_DENIED", /Access Control/],
    [-25243, "ERR_SECRETS_DENIED", /security delete-generic-password/],
    [-25244, "ERR_SECRETS_DENIED", /security delete-generic-password/],
    [-25240, "ERR_SECRETS_DENIED", /security delete-generic-password/],
    [-25292, "ERR_SECRETS_DENIED", /writable/],
    [-61, "ERR_SECRETS_DENIED", /writable/],
    [-34018, "ERR_SECRETS_DENIED", /signed release/],
    [-25291, "ERR_SECRETS_UNAVAILABLE", /login session/],
    [-67585, "ERR_SECRETS_UNAVAILABLE", /restart/],
    [-25294, "ERR_SECRETS_UNAVAILABLE", /security default-keychain/],
    [-25295, "ERR_SECRETS_UNAVAILABLE", /backup/],
    [-25307, "ERR_SECRETS_UNAVAILABLE", /security default-keychain/],
    [-25302, "ERR_SECRETS_TOO_LARGE", /shorter/],
    [-34, "ERR_SECRETS_PLATFORM", /free some space/],
    [-50, "ERR_SECRETS_PLATFORM", /The stand-in's words for -50/],
    [-2147416032, "ERR_SECRETS_PLATFORM", /The stand-in's words for -2147416032/],
  ];
  const VALUE = "correct horse";
  const OPERATIONS: Record<string, [ItemFunction, () => Promise<unknown>]> = {
    get: ["SecItemCopyMatching", () => secrets.get("service", "me")],
    set: ["SecItemUpdate", () => secrets.set("service", "me", VALUE)],
    "a first set": ["SecItemAdd", () => secrets.set("service", "me", VALUE)],
    delete: ["SecItemDelete", () => secrets.delete("service", "me")],
  };
  test.each([...STATUSES])("status %d becomes %s with a hint", async (status, code, remedy) => {
    for (const [on, operate] of Object.values(OPERATIONS)) {
      await keychain.rule({ on, does: "status", number: status });
      const before = standIn.liveObjects();
      const error = await operate().then(
        () => undefined,
        (error) => error,
      );
      expect(error).toMatchObject({ name: "SecretsError", code, cause: status });
      expect(error.message).toMatch(remedy);
      expect(error.message).toContain("; ");
      expect(error.message).not.toContain(VALUE);
      expect(standIn.liveObjects()).toBe(before);
    }
  });

  test("an item's label is its service, which Keychain Access shows", async () => {
    await secrets.set("label.example", "me", "value");
    expect((await keychain.items()).split("label.example")).toHaveLength(3);
  });

  test("an item that appears between update and add is updated", async () => {
    await keychain.rule(
      { on: "SecItemUpdate", does: "once", number: -25300 },
      { on: "SecItemAdd", does: "once", number: -25299 },
    );
    await secrets.set("service", "me", "first");
    expect(await keychain.calls()).toEqual([
      "SecItemUpdate me",
      "SecItemAdd me",
      "SecItemUpdate me",
      "SecItemAdd me",
    ]);
    expect(await secrets.get("service", "me")).toBe("first");
  });

  test("a set fails when another process keeps creating and deleting the item", async () => {
    await keychain.rule(
      { on: "SecItemUpdate", does: "status", number: -25300 },
      { on: "SecItemAdd", does: "status", number: -25299 },
    );
    const failure = secrets.set("service", "me", "value");
    await expect(failure).rejects.toMatchObject({ code: "ERR_SECRETS_PLATFORM", cause: -25299 });
  });

  test("thousands of operations release all objects", async () => {
    await secrets.set("service", "me", "value");
    await secrets.get("service", "me");
    const before = standIn.liveObjects();
    for (let round = 0; round < 1000; round++) {
      await secrets.set("a service of length", `name ${round % 10}`, `value ${round}`);
      expect(await secrets.get("a service of length", `name ${round % 10}`)).toBe(`value ${round}`);
      expect(await secrets.get("a service of length", "absent")).toBe(null);
      if (round % 10 === 9) expect(await secrets.delete("a service of length", "name 0")).toBe(true);
    }
    expect(await provider.list!("a service of length")).toHaveLength(9);
    expect(standIn.liveObjects()).toBe(before);
  });

  test("open dialogs block no other operation", async () => {
    const accounts = ["first", "second", "third", "fourth", "fifth"];
    for (const name of [...accounts, "free"]) await secrets.set("service", name, `value of ${name}`);
    await keychain.rule(
      ...accounts.map((account) => ({ on: "SecItemCopyMatching", account, does: "dialog" }) as const),
    );
    const answers = accounts.map((name) => secrets.get("service", name));
    for (const name of accounts) await keychain.awaitCall(`SecItemCopyMatching ${name}`);
    expect(await secrets.get("service", "free")).toBe("value of free");
    await secrets.set("service", "free", "another");
    expect(await secrets.get("service", "free")).toBe("another");
    for (const name of accounts.slice(1)) await keychain.answer(name);
    expect(await Promise.all(answers.slice(1))).toEqual(accounts.slice(1).map((name) => `value of ${name}`));
    await keychain.answer("first", -128);
    await expect(answers[0]).rejects.toMatchObject({ code: "ERR_SECRETS_CANCELED", cause: -128 });
  });

  test("an abort signal ends the wait for a dialog, and the dialog's later result is released", async () => {
    await secrets.set("service", "me", "value");
    await keychain.rule({ on: "SecItemCopyMatching", account: "me", does: "dialog" });
    const before = standIn.liveObjects();
    const controller = new AbortController();
    const get = secrets.get({ service: "service", name: "me", signal: controller.signal });
    await keychain.awaitCall("SecItemCopyMatching me");
    controller.abort(new Error("enough"));
    await expect(get).rejects.toThrow("enough");
    await keychain.answer("me");
    expect(await secrets.get("service", "me")).toBe("value"); // waits for the aborted operation
    expect(standIn.liveObjects()).toBe(before);
  });

  test("a timeout ends the wait for a dialog", async () => {
    await keychain.rule({ on: "SecItemCopyMatching", account: "me", does: "dialog" });
    const get = secrets.get({ service: "service", name: "me", timeout: 1 });
    await expect(get).rejects.toMatchObject({ code: "ERR_SECRETS_TIMEOUT" });
    await keychain.answer("me");
    expect(await secrets.get("service", "me")).toBe(null);
  });

  test("an aborted set makes no further call after the current one", async () => {
    await keychain.rule({ on: "SecItemUpdate", account: "me", does: "dialog" });
    const controller = new AbortController();
    const set = secrets.set({ service: "service", name: "me", signal: controller.signal }, "value");
    await keychain.awaitCall("SecItemUpdate me");
    controller.abort();
    await expect(set).rejects.toMatchObject({ name: "AbortError" });
    await keychain.answer("me", -25300);
    expect(await secrets.get("service", "me")).toBe(null);
    expect(await keychain.calls()).not.toContain("SecItemAdd me");
  });

  test("an operation that times out before its turn does nothing", async () => {
    await keychain.rule({ on: "SecItemCopyMatching", account: "me", does: "dialog" });
    const first = secrets.get("service", "me");
    const second = secrets.set({ service: "service", name: "me", timeout: 1 }, "value");
    await expect(second).rejects.toMatchObject({ code: "ERR_SECRETS_TIMEOUT" });
    await keychain.answer("me");
    expect(await first).toBe(null);
    expect(await secrets.get("service", "me")).toBe(null);
    expect(await keychain.calls()).not.toContain("SecItemUpdate me");
  });

  test("every operation finishes when there are more dialogs than threads", async () => {
    const names = Array.from({ length: 40 }, (_, index) => `n${index}`);
    for (const name of names) await secrets.set("service", name, name);
    await keychain.rule({ on: "SecItemCopyMatching", does: "dialog" });
    const values = Promise.all(names.map((name) => secrets.get("service", name)));
    for (const name of names) await keychain.answer(name);
    expect(await values).toEqual(names);
  });
});
