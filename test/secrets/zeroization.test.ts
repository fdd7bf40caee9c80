// The client's buffers contain no value after unencrypted transfers over the bus. linux/product.test.ts searches the memory of
// the program for encrypted sessions.
import { describe, expect, spyOn, test } from "bun:test";
import type { SecretProvider } from "../../platform/secrets/contract/secret-provider.ts";
import type { SecretServiceConnection } from "../../platform/secrets/linux/connection.ts";
import { setSecret } from "../../platform/secrets/linux/items.ts";
import { openProvider } from "../../platform/secrets/secret-provider.ts";
import { outputs } from "../../platform/terminal/output.ts";
import { BusSocket } from "../../platform/secrets/linux/dbus/bus-socket.ts";
import { fetchSecrets } from "../../src/secrets/grants/secret-fetch.ts";
import type { MappedSecret } from "../../src/secrets/grants/mapping.ts";
import { readCommand } from "../../src/secrets/grants/command-source.ts";
import { print, readInput } from "../../src/secrets/streams.ts";
import { expectWithout, recordBuffers } from "../support/keyring/recorded-buffers.ts";
import { marshal } from "../support/keyring/raw-bus.ts";
import { createProject } from "../support/project.ts";
import { enterFake } from "../support/keyring/desktop-session.ts";

const VALUE = "a value that must not stay";

async function checkBuffers(use: (provider: SecretProvider) => Promise<Uint8Array[]>): Promise<void> {
  await using entered = await enterFake();
  for (const name of ["a", "b", "c", "d", "e"]) entered.fake.addItem("zeroing", name, VALUE);
  const provider = await openProvider();
  let values: Uint8Array[] = [];
  const buffers = await recordBuffers(async () => void (values = await use(provider)));
  expect(values.map((bytes) => Buffer.from(bytes).toString())).toEqual(values.map(() => VALUE));
  // The caller zeroizes the returned values.
  const own = buffers.filter((bytes) => !values.includes(bytes));
  expect(own.length).toBeGreaterThan(5);
  expectWithout(own, VALUE);
}

test.skipIf(process.platform !== "linux").each([1, 5])(
  "%d concurrent plain reads leave no value in a buffer",
  async (count) => {
    await checkBuffers(async (provider) => {
      const names = ["a", "b", "c", "d", "e"].slice(0, count);
      const values = await Promise.all(names.map((name) => provider.get("zeroing", name)));
      return values.map((bytes) => bytes!);
    });
  },
);

test.skipIf(process.platform !== "linux")(
  "plain writes, two in one turn of the event loop, leave no value in a buffer",
  async () => {
    await checkBuffers(async (provider) => {
      const values = ["new", "newer", "a", "b"].map(() => new TextEncoder().encode(VALUE));
      await Promise.all(
        ["new", "newer", "a", "b"].map((name, index) => provider.set("zeroing", name, values[index]!)),
      );
      return values;
    });
  },
);

test.skipIf(process.platform !== "linux")(
  "a value that was fetched in advance and not used is zeroized",
  async () => {
    await using entered = await enterFake();
    const { fake } = entered;
    const first = fake.addItem("zeroing", "guessed", VALUE);
    const provider = await openProvider();
    (await provider.get("zeroing", "guessed"))!.fill(0);
    const newer = fake.addItem("zeroing", "guessed", "another value", { modified: 9n });
    const buffers = await recordBuffers(async () => {
      const value = (await provider.get("zeroing", "guessed"))!;
      expect(Buffer.from(value).toString()).toBe("another value");
      await provider.get("zeroing", "nothing"); // the reply of the advance fetch came before this one
    });
    expect(fake.items.get(first)!.value).not.toBe(fake.items.get(newer)!.value);
    expectWithout(buffers, VALUE);
  },
);

test.skipIf(process.platform !== "linux")("a value that is read to verify a write is zeroized", async () => {
  const item = "/item/1";
  const content = () => Buffer.from(VALUE);
  const answers: Record<string, () => unknown[]> = { SearchItems: () => [[item], []], SetSecret: () => [] };
  const session = { path: "/session/1", key: undefined, isProven: false };
  const connection = {
    bus: { call: async ({ member }: { member: string }) => answers[member]!() },
    requests: { request: async () => ["/session/1", Buffer.alloc(0), content(), "text/plain"] },
    session: Promise.resolve(session),
    lastItems: new Map(),
  } as unknown as SecretServiceConnection;
  const pair = { service: "zeroing", name: "proven" };
  const times = { calledAt: 0, patience: 1000, isOver: false, isPrompting: false };
  const value = content();
  const buffers = await recordBuffers(() => setSecret({ ...pair, ...times, connection }, value));
  expect([session.isProven, value.toString()]).toEqual([true, VALUE]);
  // The bus zeroizes the message that it sends.
  expectWithout(
    buffers.filter((bytes) => bytes.length === VALUE.length),
    VALUE,
  );
  expect(buffers.some((bytes) => bytes.length === VALUE.length)).toBe(true);
});

test.skipIf(process.platform === "win32").each([
  ["with a NUL in it", "printf 'a\\0b'"],
  ["that is not UTF-8", "printf '\\377'"],
])("fetched values are zeroized when there is one %s", async (_what, command) => {
  const secret = (name: string, line: string): MappedSecret => {
    const source = { kind: "command", argv: ["sh", "-c", line] } as const;
    return { name, source, isOptional: false, isRedacted: true };
  };
  const { slice } = Uint8Array.prototype;
  const buffers: Uint8Array[] = [];
  const slicing = spyOn(Uint8Array.prototype, "slice").mockImplementation(function (
    this: Uint8Array,
    ...args
  ) {
    const bytes = slice.apply(this, args);
    buffers.push(bytes);
    return bytes;
  });
  const fetching = fetchSecrets([secret("GOOD", `printf '${VALUE}'`), secret("BAD", command)], ".");
  await expect(fetching).rejects.toThrow("The value of BAD ");
  slicing.mockRestore();
  expect(buffers.filter(({ length }) => length === VALUE.length).length).toBe(2); // the read bytes and the returned copy
  expectWithout(buffers, VALUE);
});

test.skipIf(process.platform === "win32")("standard input is zeroized after reading", async () => {
  const chunks = [VALUE.slice(0, 9), VALUE.slice(9)].map((text) => new TextEncoder().encode(text));
  const streaming = spyOn(Bun.stdin, "stream").mockReturnValue(
    new ReadableStream({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(chunk);
        controller.close();
      },
    }),
  );
  let text = "";
  const buffers = await recordBuffers(async () => void (text = await readInput()));
  streaming.mockRestore();
  expect(text).toBe(VALUE);
  expect(buffers.length).toBe(3); // an empty buffer, and two larger ones
  for (const bytes of [...buffers, ...chunks]) expect(bytes.every((byte) => byte === 0)).toBe(true);
});

test("standard output leaves no printed bytes in buffers, also after a failed write", async () => {
  for (const failure of [undefined, Object.assign(new Error(), { code: "ENOSPC" })]) {
    const given: Uint8Array[] = [];
    const writing = spyOn(outputs, "writeSome").mockImplementation((_, bytes) => {
      given.push(bytes);
      expect(Buffer.from(bytes).toString()).toBe(VALUE);
      if (failure) throw failure;
      return bytes.length;
    });
    const printing = print(VALUE);
    if (failure) await expect(printing).rejects.toThrow("Cannot write to standard output (ENOSPC)");
    else await printing;
    writing.mockRestore();
    expect(given.length).toBe(1);
    expectWithout(given, VALUE);
  }
});

describe.skipIf(process.platform !== "linux")("a connection that ends", () => {
  const nothing = { received() {}, opened() {}, failed() {} };

  test("zeroizes messages that could not be sent", () => {
    const socket = new BusSocket([], "nowhere", 0, nothing);
    const parts = [Buffer.from(VALUE), Buffer.from(VALUE)];
    for (const part of parts) socket.send(part);
    socket.end();
    expectWithout(parts, VALUE);
  });

  test("zeroizes incomplete messages and their read buffers", async () => {
    await using project = await createProject();
    const message = marshal({
      type: 2,
      replySerial: 1,
      sender: ":1.1",
      signature: "ay",
      body: [Buffer.from(`${VALUE}, and more`)],
    });
    const bytes = Buffer.concat([Buffer.from("OK x\r\n"), message, message.subarray(0, -5)]);
    using server = Bun.listen({
      unix: project.join("bus"),
      socket: { open: (peer) => void peer.write(bytes), data() {} },
    });
    const chunks: Buffer[] = [];
    const { connect } = Bun;
    const connecting = spyOn(Bun, "connect").mockImplementation(((options: Bun.UnixSocketOptions) => {
      const { data } = options.socket;
      const keep: typeof data = (socket, chunk) => {
        chunks.push(chunk);
        return data!(socket, chunk);
      };
      return connect({ ...options, socket: { ...options.socket, data: keep } });
    }) as typeof connect);
    const whole = Promise.withResolvers<Buffer>();
    const buffers = await recordBuffers(async () => {
      const socket = new BusSocket(
        [{ path: project.join("bus"), label: "test" }],
        "test",
        process.getuid!(),
        {
          received: whole.resolve,
          opened() {},
          failed: whole.reject,
        },
      );
      (await whole.promise).fill(0);
      socket.end();
    });
    connecting.mockRestore();
    expect([buffers.length > 2, chunks.length > 0]).toEqual([true, true]);
    expectWithout([...buffers, ...chunks], VALUE);
    server.stop();
  });
});

test.skipIf(process.platform === "win32")("output of a command that fails is zeroized", async () => {
  const parts: Uint8Array[] = [];
  const { slice } = Uint8Array.prototype;
  const slicing = spyOn(Uint8Array.prototype, "slice").mockImplementation(function (
    this: Uint8Array,
    ...args
  ) {
    const bytes = slice.apply(this, args);
    parts.push(bytes);
    return bytes;
  });
  const { prototype } = ReadableStreamDefaultReader;
  const { read } = prototype;
  const reading = spyOn(prototype, "read").mockImplementation(async function (
    this: ReadableStreamDefaultReader<Uint8Array>,
  ) {
    const result = await (read as () => Promise<{ done: boolean; value?: Uint8Array }>).call(this);
    if (result.value) parts.push(result.value);
    return result as never;
  });
  const answer = await readCommand(["sh", "-c", `printf '${VALUE}'; exit 9`], ".");
  reading.mockRestore();
  slicing.mockRestore();
  expect(answer).toBe('The command "sh" failed with exit code 9');
  // The read bytes, and the copy that would have been returned.
  expect(parts.filter(({ length }) => length === VALUE.length)).toHaveLength(2);
  expectWithout(parts, VALUE);
});
