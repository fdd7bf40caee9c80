// Invalid replies: of the wrong type, too large, from another program than the secret service, or with terminal escapes. No reply
// is taken as "no such credential".
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Variant } from "dbus-next";
import { measureMessage } from "../../../platform/secrets/linux/dbus/dbus-decoder.ts";
import { openProvider } from "../../../platform/secrets/secret-provider.ts";
import { createSecrets } from "../../../src/secrets/api/secrets.ts";
import { marshal, startRawBus } from "../../support/keyring/raw-bus.ts";
import { REPOSITORY, runRt, startRt } from "../../support/rt.ts";
import { enterFake, failureOf, setEnvironment } from "../../support/keyring/desktop-session.ts";

const PAIR = { service: "dev.rt.faults", name: "me" };
const WORDS = [PAIR.service, PAIR.name];
const SESSION = "/org/freedesktop/secrets/session/fake";

describe.skipIf(process.platform !== "linux")("answers of the secret service", () => {
  const key = (bytes: Uint8Array) => ["vo", [new Variant("ay", Buffer.from(bytes)), SESSION]];
  const PRIME = Buffer.from(
    "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD" +
      "EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED" +
      "EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE65381FFFFFFFFFFFFFFFF",
    "hex",
  );
  const primeLess = (less: number) => {
    const bytes = Buffer.from(PRIME);
    bytes[127]! -= less;
    return bytes;
  };
  // [description, method, signature and body of the reply]
  test.each([
    ["an empty public key", "OpenSession", key(new Uint8Array(0))],
    ["the public key 0", "OpenSession", key(new Uint8Array(128))],
    ["the public key 1", "OpenSession", key(Uint8Array.of(...new Uint8Array(127), 1))],
    ["the prime minus 1 as public key", "OpenSession", key(primeLess(1))],
    ["the prime as public key", "OpenSession", key(PRIME)],
    ["a public key that is longer than the group's", "OpenSession", key(new Uint8Array(130).fill(1))],
    ["a text for a public key", "OpenSession", ["vo", [new Variant("s", "1234"), SESSION]]],
    ["a session without a key", "OpenSession", ["o", [SESSION]]],
    ["a number for an alias", "ReadAlias", ["u", [1]]],
    ["no alias", "ReadAlias", ["", []]],
    ["a single list of items", "SearchItems", ["ao", [[]]]],
    ["names for items", "SearchItems", ["asas", [[], []]]],
    ["a reply without lists", "SearchItems", ["", []]],
    ["a value without its session", "GetSecret", ["ay", [Buffer.from("value")]]],
    ["three parts of a value", "GetSecret", ["(oayay)", [[SESSION, Buffer.alloc(0), Buffer.from("value")]]]],
  ] as [string, string, [string, unknown[]]][])(
    "%s: exit code 2 and one line",
    async (_what, member, reply) => {
      await using entered = await enterFake();
      // rt reads the default keyring only when it finds nothing.
      if (member !== "ReadAlias") entered.fake.addItem(PAIR.service, PAIR.name, "value");
      entered.fake.replies.set(member, reply);
      const result = await runRt({ args: ["secrets", "get", ...WORDS], env: entered.keyring.env });
      expect(result).toMatchObject({ stdout: "", status: 2 });
      expect(result.stderr).toMatch(/^error: The secret service sent .* that is invalid \(.*\)\nhint: .*\n$/);
      expect(await failureOf(entered.secrets.get(PAIR))).toMatchObject({ code: "ERR_SECRETS_PLATFORM" });
    },
  );

  test.each([2, 3])("accepts the public key %d, and the prime minus it", async (number) => {
    for (const bytes of [Uint8Array.of(number), primeLess(number)]) {
      await using entered = await enterFake();
      entered.fake.replies.set("OpenSession", key(bytes) as [string, unknown[]]);
      expect(await entered.secrets.get(PAIR)).toBe(null);
    }
  });

  test("ignores properties of another type", async () => {
    await using entered = await enterFake();
    const { fake, keyring } = entered;
    const list = () => runRt({ args: ["secrets", "list"], env: keyring.env });
    fake.replies.set("Get Locked", ["v", [new Variant("s", "no")]]);
    expect(await list()).toMatchObject({ stdout: "", status: 2 });
    expect(await failureOf(entered.secrets.get(PAIR))).toMatchObject({ code: "ERR_SECRETS_PLATFORM" });
    fake.replies.delete("Get Locked");
    const found = { stdout: "", status: 2, stderr: expect.stringContaining("the property Collections") };
    fake.replies.set("Get Collections", ["v", [new Variant("as", ["a"])]]);
    expect(await list()).toMatchObject(found);
    for (const [name, variant] of [
      ["Attributes", new Variant("as", ["xdg:schema"])],
      ["Modified", new Variant("s", "yesterday")],
    ] as const) {
      for (const value of ["a", "b"]) fake.addItem(PAIR.service, name, value);
      fake.replies.set("GetAll org.freedesktop.Secret.Item", ["a{sv}", [{ [name]: variant }]]);
      expect(await failureOf(entered.secrets.get({ ...PAIR, name }))).toMatchObject({
        code: "ERR_SECRETS_PLATFORM",
        message: expect.stringContaining(`the property ${name}`),
      });
    }
  });

  test("escapes and truncates an error text of the service", async () => {
    await using entered = await enterFake();
    const { fake, keyring } = entered;
    fake.errorText = `\x1b]0;owned\x07\x1b[2J\n::stop-commands::\u202e; hint: run me ${"x".repeat(100_000)}`;
    fake.failures.set("SearchItems", Array(10).fill("org.freedesktop.DBus.Error.Failed"));
    for (const args of [
      ["get", ...WORDS],
      ["get", ...WORDS, "--json"],
    ]) {
      const { stdout, stderr, status } = await runRt({ args: ["secrets", ...args], env: keyring.env });
      expect(status).toBe(2);
      for (const output of [stdout, stderr]) {
        expect(output).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f\u202e]|^::/m);
        expect(output.length).toBeLessThan(2000);
      }
      expect(stderr).toStartWith(
        "error: The secret service returned an error (org.freedesktop.DBus.Error.Failed: \\u001b]0;",
      );
      expect(stderr.split("\n")).toHaveLength(3);
    }
    const { message } = await failureOf(entered.secrets.get(PAIR));
    expect(message).not.toMatch(/[\x00-\x1f\u202e]/);
    fake.errorText = "x";
    fake.replies.set("Get Label", ["v", [new Variant("s", "\x1b[2Jlabel\n")]]);
    const { stdout } = await runRt({ args: ["doctor"], env: keyring.env });
    expect(stdout).toContain('"\\u001b[2Jlabel\\n", unlocked');
  });
});

describe.skipIf(process.platform !== "linux")("a forger on the same bus", () => {
  const forge = async (address: string, to: string, what: string) => {
    const program = [
      process.execPath,
      join(REPOSITORY, "test/support/keyring/bus-forger.ts"),
      address,
      to,
      what,
    ];
    expect(await runRt({ program })).toEqual({ stdout: "sent\n", stderr: "", status: 0 });
  };

  test.each(["ReadAlias", "OpenSession", "SearchItems", "GetSecret"])(
    "cannot answer %s instead of the secret service",
    async (member) => {
      await using entered = await enterFake();
      const { fake, keyring } = entered;
      fake.addItem(PAIR.service, PAIR.name, "value");
      fake.held.add(member);
      const called = fake.called(member);
      const child = startRt({ args: ["secrets", "get", ...WORDS], env: keyring.env });
      await called;
      await forge(keyring.address, fake.caller, "serials");
      fake.release();
      expect(await new Response(child.stdout).text()).toBe("value");
      expect(await child.exited).toBe(0);
    },
  );

  test("cannot complete a dialog, nor report that the secret service has exited", async () => {
    await using entered = await enterFake();
    const { fake, keyring } = entered;
    fake.addItem(PAIR.service, PAIR.name, "value", { isLocked: true });
    fake.prompts = "ignore";
    const prompted = fake.called("Prompt");
    const child = startRt({ args: ["secrets", "get", ...WORDS], env: keyring.env });
    await prompted;
    await forge(keyring.address, fake.caller, fake.lastPrompt);
    fake.completePrompts();
    expect(await new Response(child.stdout).text()).toBe("value");
    expect(await child.exited).toBe(0);
  });

  test("replies of the former owner are rejected after another service has taken over the name", async () => {
    await using entered = await enterFake();
    const { fake, secrets, keyring } = entered;
    fake.addItem(PAIR.service, PAIR.name, "value");
    expect(await secrets.get(PAIR)).toBe("value");
    await fake[Symbol.asyncDispose]();
    await keyring.startService();
    expect(await secrets.get(PAIR)).toBe(null);
    await secrets.set(PAIR, "another value");
    expect(await secrets.get(PAIR)).toBe("another value");
  });
});

describe.skipIf(process.platform !== "linux")("a bus", () => {
  const get = (env: Record<string, string>) => runRt({ args: ["secrets", "get", ...WORDS], env });

  test("the connection is closed with an error when the bus rejects the user", async () => {
    await using bus = await startRawBus({ value: "value", greeting: "REJECTED EXTERNAL\r\n" });
    const { stderr, status } = await get(bus.env);
    expect(stderr).toMatch(/^error: The session bus .* rejected this user \(REJECTED EXTERNAL\)\n/);
    expect(status).toBe(2);
  });

  test("the connection is closed with an error when the bus sends no valid message", async () => {
    await using bus = await startRawBus({ value: "value" });
    bus.alter = (member, reply) =>
      member === "SearchItems" ? [Buffer.from("HTTP/1.1 400 Bad Request")] : [reply];
    const { stderr, status } = await get(bus.env);
    expect(stderr).toMatch(/^error: The session bus .* sent an invalid D-Bus message \(no byte order\)\n/);
    expect(status).toBe(2);
  });
});

describe.skipIf(process.platform !== "linux")("the size of messages", () => {
  const MIB = 2 ** 20;
  const get = async (env: Record<string, string>) => {
    const child = startRt({ args: ["secrets", "get", ...WORDS], env });
    const [stdout, stderr] = await Promise.all(
      [child.stdout, child.stderr].map((stream) => new Response(stream).text()),
    );
    await child.exited;
    return { stdout, stderr, status: child.exitCode, memory: child.resourceUsage()!.maxRSS };
  };

  test("a reply of 127 MiB fails its call and is skipped without allocating its size", async () => {
    await using bus = await startRawBus({ value: "value" });
    const usual = await get(bus.env);
    expect(usual).toMatchObject({ stdout: "value", status: 0 });
    bus.alter = (member, reply) => (member === "GetSecret" ? lengthen(reply, 127 * MIB) : [reply]);
    const result = await get(bus.env);
    expect(result).toMatchObject({ stdout: "", status: 2 });
    expect(result.stderr).toMatch(
      /^error: The secret service sent a reply to GetSecret .*16777216.*\nhint: .*\n$/,
    );
    expect(result.memory - usual.memory).toBeLessThan(32 * MIB);
    // The connection remains usable.
    bus.alter = (member, reply) =>
      member === "SearchItems" ? [...lengthen(signal(), 17 * MIB), reply] : [reply];
    expect(await get(bus.env)).toMatchObject({ stdout: "value", status: 0 });
  });

  test("a message of 128 MiB is valid, and a longer one is not", async () => {
    await using bus = await startRawBus({ value: "value" });
    let size = 128 * MIB;
    bus.alter = (member, reply) => {
      if (member === "GetSecret") reply.writeUInt32LE(size - measureMessage(reply).header, 4);
      return [reply];
    };
    const most = await get(bus.env);
    expect(most).toMatchObject({ stdout: "", status: 2 });
    expect(most.stderr).toStartWith("error: The secret service sent a reply to GetSecret");
    size += 1;
    const more = await get(bus.env);
    expect(more).toMatchObject({ stdout: "", status: 2 });
    expect(more.stderr).toMatch(
      /^error: The session bus .* sent an invalid D-Bus message \(a message of 134217729 bytes\)\n/,
    );
  });

  test("rt disconnects from a bus that never ends its greeting", async () => {
    await using bus = await startRawBus({ value: "value", greeting: "OK ".padEnd(2 ** 14, "x") });
    const result = await get(bus.env);
    expect(result).toMatchObject({ stdout: "", status: 2 });
    expect(result.stderr).toContain("rejected this user (OK xxxxxx");
    expect(result.stderr!.length).toBeLessThan(1000);
  });

  test("a value may have as many bytes as fit into a message of 16 MiB", async () => {
    const most = "v".repeat(16 * MIB - 4096);
    await using bus = await startRawBus({ value: most });
    using _ = setEnvironment(bus.env);
    const secrets = createSecrets(openProvider);
    expect((await secrets.get(PAIR)) === most).toBe(true);
    await secrets.set(PAIR, most);
    expect(await failureOf(secrets.set(PAIR, `${most}v`))).toMatchObject({ code: "ERR_SECRETS_TOO_LARGE" });
  });
});

/** Returns a signal that rt did not subscribe to. */
function signal(): Buffer {
  return marshal({
    type: 4,
    path: "/x",
    interface: "a.b",
    member: "C",
    sender: ":1.9",
    signature: "ay",
    body: [Buffer.alloc(0)],
  });
}

/** Returns the message with a body that is `by` bytes longer, in chunks. */
function lengthen(message: Buffer, by: number): Buffer[] {
  message.writeUInt32LE(message.readUInt32LE(4) + by, 4);
  const piece = Buffer.alloc(2 ** 20);
  return [message, ...Array.from({ length: by / piece.length }, () => piece)];
}
