// What goes wrong on Linux: no bus, no service, nobody to ask, parts that die, hang or answer nonsense. Real
// daemons where they can be brought into the state, a fake service where they cannot.
import { describe, expect, test } from "bun:test";
import { createServer } from "node:net";
import { openProvider } from "../../platform/secret-provider.ts";
import { createSecrets, type Secrets } from "../../src/secrets/secrets.ts";
import { FakeSecretService } from "../support/fake-secret-service.ts";
import { type Keyring, type KeyringOptions, startKeyring } from "../support/keyring.ts";
import { createProject } from "../support/project.ts";

const PAIR = { service: "dev.rt.faults", name: "me" };

interface Entered extends AsyncDisposable {
  keyring: Keyring;
  secrets: Secrets;
}

async function enterKeyring(options?: KeyringOptions): Promise<Entered> {
  const keyring = await startKeyring(options);
  keyring.enter();
  return {
    keyring,
    secrets: createSecrets(openProvider),
    [Symbol.asyncDispose]: () => keyring[Symbol.asyncDispose](),
  };
}

async function enterFake(): Promise<Entered & { fake: FakeSecretService }> {
  const entered = await enterKeyring({ service: "none" });
  const fake = await FakeSecretService.start(entered.keyring.address);
  const dispose = async () => {
    await fake[Symbol.asyncDispose]();
    await entered[Symbol.asyncDispose]();
  };
  return { ...entered, fake, [Symbol.asyncDispose]: dispose };
}

/** The environment for the duration of a test. */
function setEnvironment(values: Record<string, string | undefined>): Disposable {
  const before = Object.fromEntries(Object.keys(values).map((name) => [name, process.env[name]]));
  const apply = (entries: Record<string, string | undefined>) => {
    for (const [name, value] of Object.entries(entries)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
  apply(values);
  return { [Symbol.dispose]: () => apply(before) };
}

async function failureOf(
  promise: Promise<unknown>,
): Promise<{ code?: string; message: string; cause?: unknown; name: string }> {
  const error = await promise.then(
    (value) => Promise.reject(new Error(`resolved with ${typeof value}`)),
    (error: Error) => error,
  );
  return error;
}

describe.skipIf(process.platform !== "linux")("secrets on Linux", () => {
  describe("without a bus", () => {
    test("the error names the address and says how to get a bus", async () => {
      using _ = setEnvironment({ DBUS_SESSION_BUS_ADDRESS: "unix:path=/nonexistent/bus" });
      const failure = await failureOf(createSecrets(openProvider).get(PAIR));
      expect(failure).toMatchObject({
        name: "SecretsError",
        code: "ERR_SECRETS_UNAVAILABLE",
        cause: "ENOENT",
      });
      expect(failure.message).toContain("unix:path=/nonexistent/bus");
      expect(failure.message).toContain("dbus-run-session");
    });

    test.each([
      "nonsense",
      "tcp:host=localhost,port=1",
      "unixexec:path=/bin/false",
      "unix:guid=0",
      ";;",
      "unix:path=%zz",
    ])("an address that cannot be used is an error: %s", async (address) => {
      using _ = setEnvironment({ DBUS_SESSION_BUS_ADDRESS: address });
      expect(await failureOf(createSecrets(openProvider).set(PAIR, "x"))).toMatchObject({
        code: "ERR_SECRETS_UNAVAILABLE",
      });
    });

    test("something that is no bus is an error", async () => {
      await using project = await createProject();
      const server = createServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")).listen(
        project.join("bus"),
      );
      using _ = setEnvironment({ DBUS_SESSION_BUS_ADDRESS: `unix:path=${project.join("bus")}` });
      expect(await failureOf(createSecrets(openProvider).get(PAIR))).toMatchObject({
        code: "ERR_SECRETS_UNAVAILABLE",
      });
      server.close();
    });

    test("a bus that accepts and says nothing is given up after five seconds", async () => {
      await using project = await createProject();
      const server = createServer(() => {}).listen(project.join("bus"));
      using _ = setEnvironment({ DBUS_SESSION_BUS_ADDRESS: `unix:path=${project.join("bus")}` });
      const secrets = createSecrets(openProvider);
      const quick = failureOf(secrets.get({ ...PAIR, timeout: 50 }));
      const failure = await failureOf(secrets.get(PAIR));
      expect(await quick).toMatchObject({ code: "ERR_SECRETS_TIMEOUT" });
      expect(failure).toMatchObject({ code: "ERR_SECRETS_TIMEOUT" });
      expect(failure.message).toContain("within 5 seconds");
      server.close();
    }, 20_000);
  });

  describe("the address of the bus", () => {
    test("is found in $XDG_RUNTIME_DIR when none is set", async () => {
      await using entered = await enterKeyring();
      using _ = setEnvironment({ DBUS_SESSION_BUS_ADDRESS: undefined });
      expect(await entered.secrets.get(PAIR)).toBe(null);
    });

    test("may be a list whose first entries are dead", async () => {
      await using entered = await enterKeyring();
      const list = `tcp:host=x;unix:path=/nonexistent;unix:abstract=rt-nobody;${entered.keyring.address}`;
      using _ = setEnvironment({ DBUS_SESSION_BUS_ADDRESS: list });
      expect(await entered.secrets.get(PAIR)).toBe(null);
    });

    test("may be an abstract socket", async () => {
      await using entered = await enterKeyring({ listen: `unix:abstract=rt-test-${crypto.randomUUID()}` });
      expect(entered.keyring.address).toStartWith("unix:abstract=");
      expect(await entered.secrets.get(PAIR)).toBe(null);
    });

    test("may contain escaped characters", async () => {
      await using project = await createProject();
      const escaped = `${project.path}/a%20bus%25%2B`;
      await using entered = await enterKeyring({ listen: `unix:path=${escaped}` });
      using _ = setEnvironment({ DBUS_SESSION_BUS_ADDRESS: `unix:path=${escaped}` });
      expect(await entered.secrets.get(PAIR)).toBe(null);
    });
  });

  describe("without an open keyring", () => {
    test("no service on the bus: the error names those that can be started", async () => {
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

    test("no default collection: reading finds nothing and writing says what to do", async () => {
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

    test("a keyring that was locked: every operation says so, and works again after it is unlocked", async () => {
      await using entered = await enterKeyring();
      await entered.secrets.set(PAIR, "value");
      await entered.keyring.lock();
      await expectLocked(entered);
      await entered.keyring.killService();
      await entered.keyring.startService();
      expect(await entered.secrets.get(PAIR)).toBe("value");
    });

    test("a keyring that was never unlocked since it started: every operation says so", async () => {
      await using entered = await enterKeyring();
      await entered.secrets.set(PAIR, "value");
      await entered.keyring.killService();
      await entered.keyring.startService({ isUnlocked: false });
      await expectLocked(entered);
    });

    test("twenty operations at once on a locked keyring all end", async () => {
      await using entered = await enterKeyring();
      await entered.secrets.set(PAIR, "value");
      await entered.keyring.lock();
      const operations = Array.from({ length: 20 }, (_, index) =>
        failureOf(entered.secrets.get({ ...PAIR, name: `me ${index % 3}` })),
      );
      for (const failure of await Promise.all(operations)) expect(failure.code).toBe("ERR_SECRETS_LOCKED");
    });
  });

  describe("when something dies", () => {
    test("the service restarts between two operations", async () => {
      await using entered = await enterKeyring();
      await entered.secrets.set(PAIR, "value");
      for (let round = 0; round < 3; round++) {
        await entered.keyring.killService();
        await entered.keyring.startService();
        expect(await entered.secrets.get(PAIR)).toBe("value");
      }
    });

    test("the service is killed under many operations: each ends, and nothing that was confirmed is lost", async () => {
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
    }, 30_000);

    test("the service is killed under many reads: each ends with the value or says why not", async () => {
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

    test("the bus is killed under an operation and comes back", async () => {
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

  describe("with a service that misbehaves", () => {
    test("a service without encrypted sessions gets a plain one", async () => {
      await using entered = await enterFake();
      await entered.secrets.set(PAIR, "välue");
      expect(await entered.secrets.get(PAIR)).toBe("välue");
      expect(entered.fake.count("OpenSession")).toBe(2);
    });

    test.each(["ReadAlias", "OpenSession", "SearchItems", "CreateItem"])(
      "%s is never answered: the time-out ends the operation",
      async (member) => {
        await using entered = await enterFake();
        entered.fake.silent.add(member);
        const failure = await failureOf(entered.secrets.set({ ...PAIR, value: "the value", timeout: 100 }));
        expect(failure).toMatchObject({ code: "ERR_SECRETS_TIMEOUT" });
        expect(failure.message).not.toContain("the value");
      },
    );

    // A busy gnome-keyring ends when a client opens a session before it has noticed the client.
    test("no session is asked for before the service has answered something", async () => {
      await using entered = await enterFake();
      entered.fake.silent.add("ReadAlias");
      const failure = failureOf(entered.secrets.get({ ...PAIR, timeout: 100 }));
      expect(await failure).toMatchObject({ code: "ERR_SECRETS_TIMEOUT" });
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

    test("an item that vanishes between search and read is searched again", async () => {
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
    ])("a session that %s forgot is opened once again", async (_, error) => {
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

    test("of several matches the one with our schema counts, then the newest", async () => {
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

  describe("prompts", () => {
    test("a locked item is unlocked by the person and then read", async () => {
      await using entered = await enterFake();
      entered.fake.addItem(PAIR.service, PAIR.name, "value", { isLocked: true });
      expect(await entered.secrets.get(PAIR)).toBe("value");
    });

    test("a dismissed dialog is CANCELED where there is a display", async () => {
      await using entered = await enterFake();
      using _ = setEnvironment({ DISPLAY: ":0" });
      entered.fake.addItem(PAIR.service, PAIR.name, "value", { isLocked: true });
      entered.fake.prompts = "dismiss";
      expect(await failureOf(entered.secrets.get(PAIR))).toMatchObject({ code: "ERR_SECRETS_CANCELED" });
    });

    test("a dialog that nobody answers ends with the time-out, is never dismissed, and does not stop the next operation", async () => {
      await using entered = await enterFake();
      const { fake, secrets } = entered;
      fake.addItem(PAIR.service, PAIR.name, "value", { isLocked: true });
      fake.prompts = "ignore";
      expect(await failureOf(secrets.get({ ...PAIR, timeout: 100 }))).toMatchObject({
        code: "ERR_SECRETS_TIMEOUT",
      });
      fake.prompts = "complete";
      expect(await secrets.get(PAIR)).toBe("value");
      expect(fake.count("Dismiss")).toBe(0);
    });

    test("twenty operations open one dialog at a time, and share it", async () => {
      await using entered = await enterFake();
      const { fake, secrets } = entered;
      for (let index = 0; index < 20; index++)
        fake.addItem(PAIR.service, `n${index}`, `v${index}`, { isLocked: true });
      const values = await Promise.all(
        Array.from({ length: 20 }, (_, index) => secrets.get(PAIR.service, `n${index}`)),
      );
      expect(values).toEqual(Array.from({ length: 20 }, (_, index) => `v${index}`));
      expect(fake.maxOpenPrompts).toBe(1);
    });

    test("a hundred dialogs leave no match rule on the bus", async () => {
      await using entered = await enterFake();
      const { fake, secrets, keyring } = entered;
      const unlock = async (name: string) => {
        fake.addItem(PAIR.service, name, "value", { isLocked: true });
        expect(await secrets.get(PAIR.service, name)).toBe("value");
      };
      await unlock("first");
      const rules = await keyring.countOnBus("MatchRules");
      for (let index = 0; index < 100; index++) await unlock(`n${index}`);
      expect(fake.count("Prompt")).toBe(101);
      expect(await keyring.countOnBus("MatchRules")).toBe(rules);
    });

    test("what was declined is declined for all that had been called, and not for the next", async () => {
      await using entered = await enterFake();
      using _ = setEnvironment({ DISPLAY: ":0" });
      const { fake, secrets } = entered;
      for (const name of ["a", "b"]) fake.addItem(PAIR.service, name, name, { isLocked: true });
      fake.prompts = "dismiss";
      const failures = ["a", "a", "b", "b", "a"].map((name) => failureOf(secrets.get(PAIR.service, name)));
      for (const failure of await Promise.all(failures)) expect(failure.code).toBe("ERR_SECRETS_CANCELED");
      expect(fake.count("Prompt")).toBe(1);
      fake.prompts = "complete";
      expect(await secrets.get(PAIR.service, "b")).toBe("b");
    });

    test("a service that answers for a locked item with an empty value, as KWallet", async () => {
      await using entered = await enterFake();
      const { fake, secrets } = entered;
      fake.hidesLocks = true;
      fake.addItem(PAIR.service, PAIR.name, "value", { isLocked: true });
      expect(await secrets.get(PAIR)).toBe("value");
      const item = fake.items.get(fake.addItem(PAIR.service, "other", "another value"))!;
      const searched = fake.called("SearchItems");
      const reading = secrets.get(PAIR.service, "other");
      await searched;
      item.isLocked = true; // between the search and the read
      expect(await reading).toBe("another value");
    });

    test("a service that asks before it creates and deletes", async () => {
      await using entered = await enterFake();
      const { fake, secrets } = entered;
      fake.needsPrompt = true;
      const names = ["a", "b", "c", "d"];
      await Promise.all(names.map((name) => secrets.set(PAIR.service, name, name)));
      expect(await Promise.all(names.map((name) => secrets.get(PAIR.service, name)))).toEqual(names);
      expect(await Promise.all(names.map((name) => secrets.delete(PAIR.service, name)))).toEqual(
        names.map(() => true),
      );
      expect(fake.items.size).toBe(0);
      expect(fake.maxOpenPrompts).toBe(1);
    });

    test("while one operation waits for a person, others go on", async () => {
      await using entered = await enterFake();
      const { fake, secrets } = entered;
      fake.addItem(PAIR.service, "locked", "later", { isLocked: true });
      fake.addItem(PAIR.service, "open", "now");
      fake.prompts = "ignore";
      const prompted = fake.called("Prompt");
      const waiting = secrets.get(PAIR.service, "locked");
      await prompted;
      expect(await secrets.get(PAIR.service, "open")).toBe("now");
      fake.completePrompts();
      expect(await waiting).toBe("later");
    });
  });
});
