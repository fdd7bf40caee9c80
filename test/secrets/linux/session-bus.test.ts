// The session bus on Linux: every form of its address, and errors when it is missing or is not a bus.
import { describe, expect, test } from "bun:test";
import { createServer } from "node:net";
import { openBus } from "../../../platform/secrets/linux/connection.ts";
import { BUS_NAME, BUS_PATH } from "../../../platform/secrets/linux/dbus/dbus-names.ts";
import { openProvider } from "../../../platform/secrets/secret-provider.ts";
import { createSecrets } from "../../../src/secrets/api/secrets.ts";
import { waitUntil } from "../../support/processes.ts";
import { createProject } from "../../support/project.ts";
import { enterKeyring, failureOf, setEnvironment } from "../../support/keyring/desktop-session.ts";
import { ABSENT } from "../../support/rt.ts";

const PAIR = { service: "dev.rt.faults", name: "me" };

describe.skipIf(process.platform !== "linux")("secrets on Linux", () => {
  describe("without a bus", () => {
    test("the error names the address and says how to get a bus", async () => {
      using _ = setEnvironment({ DBUS_SESSION_BUS_ADDRESS: `unix:path=${ABSENT}/bus` });
      const failure = await failureOf(createSecrets(openProvider).get(PAIR));
      expect(failure).toMatchObject({
        name: "SecretsError",
        code: "ERR_SECRETS_UNAVAILABLE",
        cause: "ENOENT",
      });
      expect(failure.message).toContain(`unix:path=${ABSENT}/bus`);
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

    test("a server that is not a bus is an error", async () => {
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

    test("an operation that is aborted before it starts does not connect to the bus", async () => {
      await using project = await createProject();
      let connections = 0;
      const server = createServer(() => (connections += 1)).listen(project.join("bus"));
      using _ = setEnvironment({ DBUS_SESSION_BUS_ADDRESS: `unix:path=${project.join("bus")}` });
      const secrets = createSecrets(openProvider);
      const controller = new AbortController();
      const { signal } = controller;
      // The calls have started, but have not reached the store yet.
      const operations = [secrets.get({ ...PAIR, signal }), secrets.set({ ...PAIR, value: "x", signal })];
      controller.abort(new Error("enough"));
      for (const { message } of await Promise.all(operations.map(failureOf))) expect(message).toBe("enough");
      // Connections are accepted in order.
      const later = await Bun.connect({ unix: project.join("bus"), socket: { data() {} } });
      await waitUntil(() => connections > 0);
      expect(connections).toBe(1);
      later.end();
      server.close();
    });

    test("the connection to a silent bus times out after five seconds", async () => {
      await using project = await createProject();
      const server = createServer(() => {}).listen(project.join("bus"));
      using _ = setEnvironment({ DBUS_SESSION_BUS_ADDRESS: `unix:path=${project.join("bus")}` });
      const secrets = createSecrets(openProvider);
      const quick = failureOf(secrets.get({ ...PAIR, name: "other", timeout: 50 }));
      const failure = await failureOf(secrets.get(PAIR));
      expect(await quick).toMatchObject({ code: "ERR_SECRETS_TIMEOUT" });
      expect(failure).toMatchObject({ code: "ERR_SECRETS_TIMEOUT" });
      expect(failure.message).toContain("within 5 seconds");
      server.close();
    });
  });

  test("a call that cannot be encoded fails, and later calls work", async () => {
    await using _ = await enterKeyring({ service: "none" });
    const { bus } = openBus();
    const to = { destination: BUS_NAME, path: BUS_PATH, interface: BUS_NAME };
    const call = { ...to, member: "GetNameOwner", signature: "s", body: [BUS_NAME] };
    const [wrong, right] = [bus.call({ ...call, path: "no path" }), bus.call(call)];
    expect((await failureOf(wrong)).message).toContain("no path");
    expect(await right).toEqual([BUS_NAME]);
    bus.close();
  });

  test("queued calls fail together with the running ones when the bus exits", async () => {
    await using entered = await enterKeyring({ service: "none" });
    const { bus } = openBus();
    const to = { path: BUS_PATH, interface: BUS_NAME };
    const ownerOf = (name: string) =>
      bus.call({ ...to, destination: BUS_NAME, member: "GetNameOwner", signature: "s", body: [name] });
    // The last connection is this one, which answers no calls. So more calls queue than may run at once.
    const owners = await Promise.all([":1.0", ":1.1", ":1.2"].map((name) => ownerOf(name).catch(() => [])));
    const destination = owners.flat().at(-1) as string;
    const calls = Array.from({ length: 100 }, () =>
      bus.call({ ...to, destination, member: "Anything", signature: "", body: [] }),
    );
    const failures = calls.map(failureOf);
    await entered.keyring.killBus();
    for (const failure of await Promise.all(failures)) expect(failure).toMatchObject({ kind: "closed" });
  });

  describe("the address of the bus", () => {
    test("the bus address is found in $XDG_RUNTIME_DIR when no variable is set", async () => {
      await using entered = await enterKeyring();
      using _ = setEnvironment({ DBUS_SESSION_BUS_ADDRESS: undefined });
      expect(await entered.secrets.get(PAIR)).toBe(null);
    });

    test("may be a list whose first entries are dead", async () => {
      await using entered = await enterKeyring();
      const list = `tcp:host=x;unix:path=${ABSENT};unix:abstract=rt-nobody;${entered.keyring.address}`;
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
});
