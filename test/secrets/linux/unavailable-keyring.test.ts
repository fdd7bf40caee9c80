// A real keyring on Linux that is missing, locked, or exits during operations.
import { describe, expect, test } from "bun:test";
import { enterFake, enterKeyring, type Entered, failureOf } from "../../support/keyring/desktop-session.ts";

const PAIR = { service: "dev.rt.faults", name: "me" };

describe.skipIf(process.platform !== "linux")("secrets on Linux", () => {
  describe("without an open keyring", () => {
    test("the error names services to start when none is on the bus", async () => {
      await using entered = await enterKeyring({ service: "none" });
      const failure = await failureOf(entered.secrets.get(PAIR));
      expect(failure).toMatchObject({
        code: "ERR_SECRETS_UNAVAILABLE",
        cause: "org.freedesktop.DBus.Error.ServiceUnknown",
      });
      expect(failure.message).toMatch(/GNOME Keyring.*KWallet.*KeePassXC/);
    });

    test("a service that starts later is used", async () => {
      await using entered = await enterKeyring({ service: "none" });
      expect(await failureOf(entered.secrets.get(PAIR))).toMatchObject({ code: "ERR_SECRETS_UNAVAILABLE" });
      await entered.keyring.startService();
      await entered.secrets.set(PAIR, "value");
      expect(await entered.secrets.get(PAIR)).toBe("value");
    });

    test("reading finds nothing and writing fails with a hint when there is no default collection", async () => {
      await using entered = await enterKeyring({ isUnlocked: false });
      expect(await entered.secrets.get(PAIR)).toBe(null);
      expect(await entered.secrets.delete(PAIR)).toBe(false);
      const failure = await failureOf(entered.secrets.set(PAIR, "the value"));
      expect(failure).toMatchObject({ code: "ERR_SECRETS_UNAVAILABLE" });
      expect(failure.message).toContain("no default keyring");
      expect(failure.message).not.toContain("the value");
    });

    async function expectLocked({ secrets }: Entered): Promise<void> {
      const absent = { ...PAIR, name: "absent" };
      const failures = [
        secrets.get(PAIR),
        secrets.get(absent),
        secrets.set(PAIR, "other"),
        secrets.set(absent, "other"),
        secrets.delete(PAIR),
        secrets.delete(absent),
      ].map(failureOf);
      for (const failure of await Promise.all(failures))
        expect(failure).toMatchObject({ name: "SecretsError", code: "ERR_SECRETS_LOCKED" });
    }

    test("every operation fails while the keyring is locked, and works after it was unlocked", async () => {
      await using entered = await enterKeyring();
      await entered.secrets.set(PAIR, "value");
      await entered.keyring.lock();
      await expectLocked(entered);
      await entered.keyring.killService();
      await entered.keyring.startService();
      expect(await entered.secrets.get(PAIR)).toBe("value");
    });

    test("every operation fails when the keyring was never unlocked since its start", async () => {
      await using entered = await enterKeyring();
      await entered.secrets.set(PAIR, "value");
      await entered.keyring.killService();
      await entered.keyring.startService({ isUnlocked: false });
      await expectLocked(entered);
    });

    test("twenty concurrent operations on a locked keyring all end", async () => {
      await using entered = await enterKeyring();
      await entered.secrets.set(PAIR, "value");
      await entered.keyring.lock();
      const operations = Array.from({ length: 20 }, (_, index) =>
        failureOf(entered.secrets.get({ ...PAIR, name: `me ${index % 3}` })),
      );
      for (const failure of await Promise.all(operations)) expect(failure.code).toBe("ERR_SECRETS_LOCKED");
    });
  });

  describe("when a process exits", () => {
    test("operations work after the service restarts between them", async () => {
      await using entered = await enterKeyring();
      await entered.secrets.set(PAIR, "value");
      for (let round = 0; round < 3; round++) {
        await entered.keyring.killService();
        await entered.keyring.startService();
        expect(await entered.secrets.get(PAIR)).toBe("value");
      }
    });

    test("many operations end when the service is killed, and no confirmed value is lost", async () => {
      await using entered = await enterKeyring();
      const names = Array.from({ length: 100 }, (_, index) => `n${index}`);
      const sets = names.map(async (name) => {
        await entered.secrets.set({ ...PAIR, name }, `value of ${name}`);
        return name;
      });
      await Promise.race(sets);
      await entered.keyring.killService();
      await entered.keyring.startService();
      const settled = await Promise.allSettled(sets);
      const confirmed = settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
      expect(confirmed).not.toBeEmpty();
      for (const name of confirmed)
        expect(await entered.secrets.get({ ...PAIR, name })).toBe(`value of ${name}`);
    });

    test("many reads end with the value or an error when the service is killed", async () => {
      await using entered = await enterKeyring();
      await entered.secrets.set(PAIR, "value");
      const reads = Array.from({ length: 100 }, () =>
        entered.secrets.get(PAIR).catch((error: { code: string }) => error.code),
      );
      await Promise.race(reads);
      await entered.keyring.killService();
      await entered.keyring.startService();
      const results = new Set(await Promise.all(reads));
      expect(results).toContain("value");
      results.delete("value");
      expect(
        [...results].filter((result) => !/^ERR_SECRETS_(UNAVAILABLE|LOCKED)$/.test(String(result))),
      ).toEqual([]);
      expect(await entered.secrets.get(PAIR)).toBe("value");
    });

    test("operations work again after the bus is killed and restarts", async () => {
      await using entered = await enterFake();
      entered.fake.silent.add("SearchItems");
      const called = entered.fake.called("SearchItems");
      const failure = failureOf(entered.secrets.get(PAIR));
      await called;
      await entered.keyring.killBus();
      expect(await failure).toMatchObject({ code: "ERR_SECRETS_UNAVAILABLE" });
      await using next = await enterKeyring();
      expect(await entered.secrets.get(PAIR)).toBe(null);
      void next;
    });
  });
});
