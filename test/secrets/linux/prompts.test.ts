// Dialogs of a secret service: one at a time, shared, declined, or left open. dialogs.test.ts has the real ones.
import { describe, expect, test } from "bun:test";
import { enterFake, failureOf, setEnvironment } from "../../support/keyring/desktop-session.ts";
import { waitUntil } from "../../support/processes.ts";

const PAIR = { service: "dev.rt.faults", name: "me" };

describe.skipIf(process.platform !== "linux")("secrets on Linux", () => {
  describe("prompts", () => {
    test("a locked item is unlocked by a dialog and then read", async () => {
      await using entered = await enterFake();
      entered.fake.addItem(PAIR.service, PAIR.name, "value", { isLocked: true });
      expect(await entered.secrets.get(PAIR)).toBe("value");
    });

    test("an operation fails when the item is locked again after each dialog", async () => {
      await using entered = await enterFake();
      entered.fake.addItem(PAIR.service, PAIR.name, "value");
      entered.fake.failures.set("GetSecret", Array(20).fill("org.freedesktop.Secret.Error.IsLocked"));
      expect(await failureOf(entered.secrets.get(PAIR))).toMatchObject({ code: "ERR_SECRETS_LOCKED" });
      expect(entered.fake.count("Unlock")).toBe(3);
    });

    test("a dismissed dialog rejects with CANCELED when there is a display", async () => {
      await using entered = await enterFake();
      using _ = setEnvironment({ DISPLAY: ":0" });
      entered.fake.addItem(PAIR.service, PAIR.name, "value", { isLocked: true });
      entered.fake.prompts = "dismiss";
      expect(await failureOf(entered.secrets.get(PAIR))).toMatchObject({ code: "ERR_SECRETS_CANCELED" });
    });

    test("the timeout ends the wait for a dialog, leaves it open, and does not block the next operation", async () => {
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

    test.each(["service", "bus"])(
      "an operation fails when the %s exits while a dialog is open",
      async (what) => {
        await using entered = await enterFake();
        const { fake, secrets, keyring } = entered;
        fake.addItem(PAIR.service, PAIR.name, "value", { isLocked: true });
        fake.addItem(PAIR.service, "open", "value");
        fake.prompts = "ignore";
        const prompted = fake.called("Prompt");
        const failure = failureOf(secrets.get(PAIR));
        await prompted;
        // The reply to a later call proves that the dialog is open and that only its end is awaited.
        expect(await secrets.get({ service: PAIR.service, name: "open" })).toBe("value");
        if (what === "bus") await keyring.killBus();
        else await fake[Symbol.asyncDispose]();
        expect(await failure).toMatchObject({ code: "ERR_SECRETS_UNAVAILABLE" });
      },
    );

    test("the end of another program's dialog does not complete this one", async () => {
      await using entered = await enterFake();
      const { fake, secrets } = entered;
      fake.addItem(PAIR.service, PAIR.name, "value", { isLocked: true });
      fake.prompts = "ignore";
      const prompted = fake.called("Prompt");
      const value = secrets.get(PAIR);
      await prompted;
      fake.announce(`${fake.lastPrompt}0`, true);
      fake.completePrompts();
      expect(await value).toBe("value");
    });

    test("an aborted dialog leaves no connection to the bus", async () => {
      await using entered = await enterFake();
      const { fake, secrets, keyring } = entered;
      fake.addItem(PAIR.service, PAIR.name, "value", { isLocked: true });
      const before = await keyring.countOnBus("ActiveConnections");
      fake.prompts = "ignore";
      for (let count = 0; count < 3; count++) {
        const controller = new AbortController();
        const prompted = fake.called("Prompt");
        const failure = failureOf(secrets.get({ ...PAIR, signal: controller.signal }));
        await prompted; // an abort before the dialog would leave an idle connection
        controller.abort(new Error("no longer"));
        await failure;
      }
      await waitUntil(async () => (await keyring.countOnBus("ActiveConnections")) <= before);
    });

    test("twenty operations share one dialog at a time", async () => {
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

    test("a declined prompt rejects all pending operations, but not the next one", async () => {
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

    test("a declined prompt rejects a pending operation that reaches the store later", async () => {
      await using entered = await enterFake();
      using _ = setEnvironment({ DISPLAY: ":0" });
      const { fake, secrets } = entered;
      for (const name of ["a", "b"]) fake.addItem(PAIR.service, name, name, { isLocked: true });
      fake.prompts = "ignore";
      const prompted = fake.called("Prompt");
      const first = failureOf(secrets.get(PAIR.service, "a"));
      await prompted;
      fake.held.add("SearchItems");
      const searched = fake.called("SearchItems");
      const second = failureOf(secrets.get(PAIR.service, "b"));
      await searched;
      fake.completePrompts(true);
      expect((await first).code).toBe("ERR_SECRETS_CANCELED");
      fake.prompts = "complete";
      fake.release();
      expect((await second).code).toBe("ERR_SECRETS_CANCELED");
      expect(fake.count("Prompt")).toBe(1);
    });

    test("an operation that was aborted before the dialog does not reject the others", async () => {
      await using entered = await enterFake();
      using _ = setEnvironment({ DISPLAY: ":0" });
      const { fake, secrets } = entered;
      for (const name of ["a", "b"]) fake.addItem(PAIR.service, name, name, { isLocked: true });
      fake.held.add("SearchItems");
      const controller = new AbortController();
      const searched = fake.called("SearchItems");
      const first = failureOf(secrets.get({ ...PAIR, name: "a", signal: controller.signal }));
      const second = secrets.get(PAIR.service, "b");
      await searched;
      controller.abort(new Error("no longer"));
      expect((await first).message).toBe("no longer");
      fake.release();
      expect(await second).toBe("b");
      expect(fake.count("Prompt")).toBe(1);
    });

    test.each([
      ["by the program", { signal: true }],
      ["by its time-out", { timeout: 5000 }], // long enough to reach the dialog
    ])(
      "an operation opens its own dialog when the one it waits for was aborted %s",
      async (_how, { signal, timeout }: { signal?: boolean; timeout?: number }) => {
        await using entered = await enterFake();
        const { fake, secrets } = entered;
        for (const name of ["a", "b", "c"]) fake.addItem(PAIR.service, name, name, { isLocked: true });
        const controller = new AbortController();
        fake[signal ? "held" : "silent"].add("Unlock");
        const options = signal ? { signal: controller.signal } : { timeout };
        const asked = fake.called("Unlock");
        const first = failureOf(secrets.get({ ...PAIR, name: "a", ...options }));
        await asked;
        const others = ["b", "c"].map((name) => secrets.get(PAIR.service, name));
        fake.addItem(PAIR.service, "open", "value");
        // The reply to a later call proves that the others have found their items locked and wait.
        expect(await secrets.get(PAIR.service, "open")).toBe("value");
        fake.silent.clear();
        controller.abort(new Error("no longer"));
        await first;
        fake.release();
        expect(await Promise.all(others)).toEqual(["b", "c"]);
        expect(fake.count("Prompt")).toBe(2);
        expect(fake.maxOpenPrompts).toBe(1);
      },
    );

    test("a queued dialog is not shown when its operation was aborted", async () => {
      await using entered = await enterFake();
      const { fake, secrets } = entered;
      fake.addItem(PAIR.service, "a", "a", { isLocked: true });
      fake.addItem(PAIR.service, "open", "value");
      fake.needsPrompt = true;
      fake.prompts = "ignore";
      const prompted = fake.called("Prompt");
      const stored = secrets.set(PAIR.service, "new", "value");
      await prompted;
      const controller = new AbortController();
      const asked = fake.called("Unlock");
      const failure = failureOf(secrets.get({ ...PAIR, name: "a", signal: controller.signal }));
      await asked;
      // This reply arrives after the queued call, so the dialog is in the queue now.
      expect(await secrets.get(PAIR.service, "open")).toBe("value");
      // This reply arrives after the dialog's turn, on the same connection.
      fake.held.add("SearchItems");
      const searched = fake.called("SearchItems");
      const last = secrets.get(PAIR.service, "open");
      await searched;
      controller.abort(new Error("no longer"));
      expect((await failure).message).toBe("no longer");
      fake.completePrompts();
      await stored;
      fake.release();
      expect(await last).toBe("value");
      expect(fake.count("Prompt")).toBe(1);
    });

    test("an empty value for a locked item, as from KWallet, is read again after a dialog", async () => {
      await using entered = await enterFake();
      const { fake, secrets } = entered;
      fake.hidesLocks = true;
      fake.addItem(PAIR.service, PAIR.name, "value", { isLocked: true });
      expect(await secrets.get(PAIR)).toBe("value");
      const item = fake.items.get(fake.addItem(PAIR.service, "other", "another value"))!;
      const searched = fake.called("SearchItems");
      const reading = secrets.get(PAIR.service, "other");
      await searched;
      item.isLocked = true; // between search and read
      expect(await reading).toBe("another value");
    });

    test("a service may require dialogs to create and delete", async () => {
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

    test("other operations continue while one waits for a dialog", async () => {
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
