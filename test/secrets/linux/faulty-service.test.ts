// Fake secret services that hang, lose items, or send invalid replies.
import { describe, expect, test } from "bun:test";
import { openProvider } from "../../../platform/secrets/secret-provider.ts";
import { createSecrets } from "../../../src/secrets/api/secrets.ts";
import { waitUntil } from "../../support/processes.ts";
import { enterFake, failureOf } from "../../support/keyring/desktop-session.ts";

const PAIR = { service: "dev.rt.faults", name: "me" };

describe.skipIf(process.platform !== "linux")("secrets on Linux", () => {
  describe("with a service that misbehaves", () => {
    test("a service without encrypted sessions gets a plain one", async () => {
      await using entered = await enterFake();
      await entered.secrets.set(PAIR, "välue");
      expect(await entered.secrets.get(PAIR)).toBe("välue");
      expect(entered.fake.count("OpenSession")).toBe(2);
    });

    test.each(["ReadAlias", "OpenSession", "SearchItems", "CreateItem"])(
      "the timeout ends the operation when %s is never answered",
      async (member) => {
        await using entered = await enterFake();
        entered.fake.silent.add(member);
        const failure = await failureOf(entered.secrets.set({ ...PAIR, value: "the value", timeout: 100 }));
        expect(failure).toMatchObject({ code: "ERR_SECRETS_TIMEOUT" });
        expect(failure.message).not.toContain("the value");
      },
    );

    // A busy gnome-keyring exits when a client opens a session before the daemon has noticed the client.
    test("rt opens no session before the service has answered another call", async () => {
      await using entered = await enterFake();
      const controller = new AbortController();
      entered.fake.silent.add("ReadAlias");
      const called = entered.fake.called("ReadAlias");
      const failure = failureOf(entered.secrets.get({ ...PAIR, signal: controller.signal }));
      await called;
      // The bus answers in order: a session would have been requested before.
      await entered.keyring.countOnBus("MatchRules");
      controller.abort(new Error("enough"));
      expect((await failure).message).toBe("enough");
      expect(entered.fake.calls).toEqual(["ReadAlias"]);
    });

    test("an aborted operation rejects with the signal's reason and takes no further step", async () => {
      await using entered = await enterFake();
      entered.fake.addItem(PAIR.service, PAIR.name, "value");
      const controller = new AbortController();
      entered.fake.silent.add("SearchItems");
      const called = entered.fake.called("SearchItems");
      const failure = failureOf(entered.secrets.get({ ...PAIR, signal: controller.signal }));
      await called;
      const reason = new Error("enough");
      controller.abort(reason);
      expect(await failure).toBe(reason as never);
      expect(await failureOf(entered.secrets.get({ ...PAIR, signal: controller.signal }))).toBe(
        reason as never,
      );
      expect(entered.fake.count("GetSecret")).toBe(0);
    });

    test("an unlocked item is used before a newer locked one, without a dialog", async () => {
      await using entered = await enterFake();
      entered.fake.addItem(PAIR.service, PAIR.name, "locked", { isLocked: true, modified: 9n });
      entered.fake.addItem(PAIR.service, PAIR.name, "open");
      expect(await entered.secrets.get(PAIR)).toBe("open");
      expect(entered.fake.count("Unlock")).toBe(0);
    });

    test("an item of the session collection is neither read nor replaced", async () => {
      await using entered = await enterFake();
      const path = "/org/freedesktop/secrets/collection/session/1";
      const attributes = { service: PAIR.service, account: PAIR.name };
      const passing = { attributes, value: "passing", isLocked: false, modified: 9n };
      entered.fake.items.set(path, passing);
      await entered.secrets.set(PAIR, "kept");
      expect([...entered.fake.items.values()].map(({ value }) => value)).toEqual(["passing", "kept"]);
    });

    test("an item that disappears between search and read is searched again", async () => {
      await using entered = await enterFake();
      entered.fake.addItem(PAIR.service, PAIR.name, "value");
      entered.fake.failures.set("GetSecret", [
        "org.freedesktop.DBus.Error.UnknownObject",
        "org.freedesktop.DBus.Error.UnknownMethod",
      ]);
      expect(await entered.secrets.get(PAIR)).toBe("value");
      entered.fake.failures.set("GetSecret", Array(20).fill("org.freedesktop.DBus.Error.UnknownMethod"));
      expect(await failureOf(entered.secrets.get(PAIR))).toMatchObject({ code: "ERR_SECRETS_PLATFORM" });
    });

    test.each([
      ["GNOME Keyring", "org.freedesktop.Secret.Error.NoSession"],
      ["KWallet", "org.qtproject.QtDBus.Error.InvalidObjectPath"],
    ])("a session that %s no longer knows is opened once again", async (_, error) => {
      await using entered = await enterFake();
      entered.fake.addItem(PAIR.service, PAIR.name, "value");
      expect(await entered.secrets.get(PAIR)).toBe("value");
      entered.fake.failures.set("GetSecret", [error]);
      expect(await entered.secrets.get(PAIR)).toBe("value");
      expect(entered.fake.count("OpenSession")).toBe(4);
    });

    test.each([
      ["org.freedesktop.DBus.Error.AccessDenied", "DENIED"],
      ["org.freedesktop.DBus.Error.LimitsExceeded", "TOO_LARGE"],
      ["org.freedesktop.DBus.Error.Failed", "PLATFORM"],
      ["org.freedesktop.DBus.Error.Spawn.ChildExited", "UNAVAILABLE"],
    ])("%s becomes ERR_SECRETS_%s", async (native, kind) => {
      await using entered = await enterFake();
      entered.fake.failures.set("SearchItems", [native]);
      expect(await failureOf(entered.secrets.get(PAIR))).toMatchObject({
        code: `ERR_SECRETS_${kind}`,
        cause: native,
      });
    });

    test.each([
      ["true when its answer was lost", "org.freedesktop.DBus.Error.NoReply", true],
      ["false when another program has deleted it", "org.freedesktop.DBus.Error.UnknownObject", false],
    ])("a delete whose item the next attempt does not find resolves %s", async (_, error, expected) => {
      await using entered = await enterFake();
      const { fake, secrets } = entered;
      fake.addItem(PAIR.service, PAIR.name, "value");
      fake.failures.set("Delete", [error]);
      const called = fake.called("Delete");
      const deleted = secrets.delete(PAIR);
      await called;
      fake.items.clear();
      expect(await deleted).toBe(expected);
      expect(await secrets.delete(PAIR)).toBe(false);
    });

    describe("a delete that waits for another connection's delete of the same pair", () => {
      const enter = async () => {
        const entered = await enterFake();
        const { fake, keyring, secrets } = entered;
        fake.addItem(PAIR.service, PAIR.name, "value");
        fake.held.add("Delete");
        const called = fake.called("Delete");
        const first = secrets.delete(PAIR);
        await called;
        const onBus = (member: string, ...args: string[]) =>
          keyring.run([
            ...["dbus-send", "--session", "--print-reply", "--dest=org.freedesktop.DBus"],
            ...["/org/freedesktop/DBus", `org.freedesktop.DBus.${member}`, ...args],
          ]);
        const [lock] = /dev\.rt\.secrets\.lock\.\w+/.exec(await onBus("ListNames"))!;
        /** Resolves when this many connections own the lock or wait for it. */
        const queue = (length: number) =>
          waitUntil(async () => {
            const owners = await onBus("ListQueuedOwners", `string:${lock}`);
            return owners.match(/":/g)!.length === length;
          });
        return { ...entered, first, queue };
      };

      test("rejects with its signal's reason and leaves the queue to the others", async () => {
        await using entered = await enter();
        const { fake, first, queue } = entered;
        const controller = new AbortController();
        const second = createSecrets(openProvider).delete({ ...PAIR, signal: controller.signal });
        second.catch(() => {});
        await queue(2);
        const third = createSecrets(openProvider).delete(PAIR);
        await queue(3);
        controller.abort(new Error("enough"));
        expect((await failureOf(second)).message).toBe("enough");
        fake.release();
        expect([await first, await third]).toEqual([true, false]);
        expect(fake.count("Delete")).toBe(1);
      });

      test("rejects with a timeout that names the other delete, without further calls to the service", async () => {
        await using entered = await enter();
        const { fake, first } = entered;
        const before = fake.count("SearchItems");
        const second = failureOf(createSecrets(openProvider).delete({ ...PAIR, timeout: 50 }));
        expect(await second).toMatchObject({ code: "ERR_SECRETS_TIMEOUT" });
        expect(fake.count("SearchItems")).toBe(before);
        fake.release();
        expect(await first).toBe(true);
      });

      test("rejects when the bus closes", async () => {
        await using entered = await enter();
        const { keyring, first, queue } = entered;
        const second = failureOf(createSecrets(openProvider).delete(PAIR));
        await queue(2);
        const lost = failureOf(first);
        await keyring.killBus();
        expect(await second).toMatchObject({ code: "ERR_SECRETS_UNAVAILABLE" });
        expect(await lost).toMatchObject({ code: "ERR_SECRETS_UNAVAILABLE" });
      });
    });

    test("delete() works without a lock when the bus grants no names to this program", async () => {
      await using entered = await enterFake({ ownsNames: false });
      entered.fake.addItem(PAIR.service, PAIR.name, "value");
      expect(await entered.secrets.delete(PAIR)).toBe(true);
      expect(await entered.secrets.delete(PAIR)).toBe(false);
    });

    test("a timeout of years does not end at once", async () => {
      await using entered = await enterFake();
      entered.fake.addItem(PAIR.service, PAIR.name, "value");
      entered.fake.held.add("SearchItems");
      const called = entered.fake.called("SearchItems");
      const value = entered.secrets.get({ ...PAIR, timeout: 2 ** 40 });
      await called;
      await entered.keyring.countOnBus("MatchRules"); // longer than a timer whose delay overflows
      entered.fake.release();
      expect(await value).toBe("value");
    });

    test("reads of a pair are concurrent; a write waits for them, and later reads wait for the write", async () => {
      await using entered = await enterFake();
      const { fake, secrets } = entered;
      fake.addItem(PAIR.service, PAIR.name, "first");
      expect(await secrets.get(PAIR)).toBe("first");
      fake.held.add("SearchItems");
      const earlier = fake.count("SearchItems");
      const before = [secrets.get(PAIR), secrets.get(PAIR), secrets.get(PAIR)];
      const written = secrets.set(PAIR, "second");
      const deleted = secrets.delete(PAIR);
      const after = [secrets.get(PAIR), secrets.get(PAIR)];
      const other = secrets.get({ ...PAIR, name: "other" });
      while (fake.count("SearchItems") < earlier + 4) await fake.called("SearchItems");
      expect(fake.count("SearchItems")).toBe(earlier + 4);
      fake.release();
      expect(await Promise.all(before)).toEqual(["first", "first", "first"]);
      expect(await other).toBe(null);
      await written;
      expect(await deleted).toBe(true);
      expect(await Promise.all(after)).toEqual([null, null]);
      expect(fake.calls.lastIndexOf("SetSecret")).toBeLessThan(fake.calls.indexOf("Delete"));
    });

    describe("concurrent reads of many credentials", () => {
      const NAMES = ["a", "b", "c", "d", "e"];
      const enter = async () => {
        const entered = await enterFake();
        for (const name of NAMES) entered.fake.addItem(PAIR.service, name, `value of ${name}`);
        return entered;
      };
      const expected = NAMES.map((name) => `value of ${name}`);

      test("a credential that was locked during concurrent reads is unlocked and read", async () => {
        await using entered = await enter();
        const { fake, secrets } = entered;
        fake.held.add("GetSecrets");
        const called = fake.called("GetSecrets");
        const values = Promise.all(NAMES.map((name) => secrets.get(PAIR.service, name)));
        await called;
        [...fake.items.values()].at(-1)!.isLocked = true;
        fake.release();
        expect(await values).toEqual(expected);
        expect(fake.count("Unlock")).toBe(1);
      });

      test("credentials are read one by one when a combined read fails", async () => {
        await using entered = await enter();
        const { fake, secrets } = entered;
        fake.failures.set("GetSecrets", Array(5).fill("org.freedesktop.DBus.Error.Failed"));
        expect(await Promise.all(NAMES.map((name) => secrets.get(PAIR.service, name)))).toEqual(expected);
        expect(fake.count("GetSecrets")).toBeGreaterThan(0);
      });
    });

    test("an item with rt's schema takes precedence over others, then the newest one", async () => {
      await using entered = await enterFake();
      const { fake, secrets } = entered;
      fake.addItem(PAIR.service, PAIR.name, "old", { modified: 5n });
      const newer = fake.addItem(PAIR.service, PAIR.name, "newer", { modified: 9n });
      expect(await secrets.get(PAIR)).toBe("newer");
      const attributes = {
        service: PAIR.service,
        account: PAIR.name,
        "xdg:schema": "com.oven-sh.bun.Secret",
      };
      const own = fake.addItem(PAIR.service, PAIR.name, "own", { attributes, modified: 1n });
      expect(await secrets.get(PAIR)).toBe("own");
      await secrets.set(PAIR, "changed");
      expect(fake.items.get(own)!.value).toBe("changed");
      expect(fake.items.get(newer)!.value).toBe("newer");
      expect(await secrets.delete(PAIR)).toBe(true);
      expect(fake.items.size).toBe(0);
    });
  });
});
