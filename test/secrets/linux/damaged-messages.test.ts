// Damaged messages of the bus (test/support/fuzz.ts): every operation ends with the value or a SecretsError, and never with "no
// such credential".
import { describe, expect, test } from "bun:test";
import type { Socket } from "node:net";
import { Variant } from "dbus-next";
import {
  MalformedMessage,
  measureMessage,
  readAnyHeader,
  readBody,
  readHeader,
  readPlainHeader,
} from "../../../platform/secrets/linux/dbus/dbus-decoder.ts";
import { openProvider } from "../../../platform/secrets/secret-provider.ts";
import { createSecrets } from "../../../src/secrets/api/secrets.ts";
import { fuzz, mutate } from "../../support/fuzz.ts";
import { createRandom, type Random } from "../../support/random.ts";
import { marshal, type RawBus, startRawBus } from "../../support/keyring/raw-bus.ts";
import { runRt } from "../../support/rt.ts";
import { setEnvironment } from "../../support/keyring/desktop-session.ts";

const COUNT = Number(process.env.RT_FUZZ ?? 2000);
const TIME_LIMIT = 1000 * COUNT; // for a whole test; one input takes milliseconds

const variants = {
  Label: new Variant("s", "x"),
  Modified: new Variant("t", 1n),
  Attributes: new Variant("a{ss}", { a: "b" }),
};
const secret = ["/s", Buffer.alloc(16, 1), Buffer.alloc(32, 2), "text/plain"];
const MESSAGES: Buffer[] = (
  [
    ["s", [":1.5"]],
    ["vo", [new Variant("ay", Buffer.alloc(128, 9)), "/session/1"]],
    ["aoao", [["/a/b", "/a/c"], ["/d"]]],
    ["(oayays)", [secret]],
    ["a{o(oayays)}", [{ "/a/b": secret, "/a/c": secret }]],
    ["a{sv}", [variants]],
    ["v", [new Variant("aav", [[new Variant("(ybnqiuxtdg)", [1, true, -2, 3, -4, 5, -6n, 7n, 0.5, "as"])]])]],
  ] as [string, unknown[]][]
).map(([signature, body]) => marshal({ type: 2, replySerial: 3, sender: ":1.2", signature, body }));
MESSAGES.push(
  marshal({ type: 3, replySerial: 3, sender: ":1.2", errorName: "a.b", signature: "s", body: ["text"] }),
);
const moved = {
  type: 4,
  path: "/org/freedesktop/DBus",
  interface: "org.freedesktop.DBus",
  member: "NameOwnerChanged",
};
MESSAGES.push(
  marshal({ ...moved, sender: "org.freedesktop.DBus", signature: "sss", body: ["a", ":1.2", ""] }),
);

/** Damages the body and corrects its length, so that the decoder reads further. */
function damageBody(random: Random, good: Buffer): Buffer {
  const { header } = measureMessage(good);
  const body = mutate(random, [good.subarray(header)]);
  const bytes = Buffer.concat([good.subarray(0, header), body]);
  bytes.writeUInt32LE(body.length, 4);
  return bytes;
}

/** Damages the header fields and corrects their length. */
function damageHeader(random: Random, good: Buffer): Buffer {
  const fields = mutate(random, [good.subarray(16, measureMessage(good).header)]);
  const bytes = Buffer.concat([good.subarray(0, 16), fields, Buffer.alloc(8)]);
  bytes.writeUInt32LE(0, 4);
  bytes.writeUInt32LE(fields.length, 12);
  return bytes.subarray(0, 16 + Math.ceil(fields.length / 8) * 8);
}

/** Checks that the general decoder reads every header that the fast one accepts, with the same result. */
function compareHeaders(bytes: Buffer): void {
  const { header } = measureMessage(bytes);
  const plain = readPlainHeader(bytes, header);
  if (!plain) return;
  try {
    expect(readAnyHeader(bytes, header)).toEqual(plain);
  } catch (error) {
    throw new Error("the two ways to read a header differ", { cause: error });
  }
}

describe("damaged messages of the bus", () => {
  test(
    "are decoded, or rejected as malformed",
    async () => {
      const check = (bytes: Buffer) => {
        try {
          if (bytes.length < 16 || measureMessage(bytes).whole !== bytes.length) return;
          compareHeaders(bytes);
          readBody(bytes, readHeader(bytes));
        } catch (error) {
          if (!(error instanceof MalformedMessage)) throw error;
        }
      };
      for (const bytes of MESSAGES) {
        readBody(bytes, readHeader(bytes));
        expect(readPlainHeader(bytes, measureMessage(bytes).header)).toBeDefined();
      }
      const misplaced = Buffer.from(MESSAGES.at(-1)!);
      misplaced.write("-", misplaced.indexOf("/org") + 2);
      compareHeaders(misplaced);
      await fuzz("D-Bus messages", { inputs: MESSAGES, check });
      const make = (random: Random) => damageBody(random, random.pick(MESSAGES));
      await fuzz("D-Bus bodies", { inputs: MESSAGES, make, check });
      const makeHeader = (random: Random) => damageHeader(random, random.pick(MESSAGES));
      await fuzz("D-Bus headers", { inputs: MESSAGES, make: makeHeader, check });
    },
    TIME_LIMIT,
  );

  const MEMBERS = [
    "Hello",
    "AddMatch",
    "GetNameOwner",
    "ReadAlias",
    "OpenSession",
    "SearchItems",
    "GetSecret",
  ];

  /** Alters one reply according to the plan, sends the correct one after it, and disconnects a client that stays silent. */
  function follow(bus: RawBus, plan: Uint8Array): void {
    const random = createRandom(Buffer.from(plan).readInt32LE());
    const altered = random.pick(MEMBERS);
    const isFollowed = random.below(2) === 0;
    const timers = new Map<Socket, ReturnType<typeof setTimeout>>();
    bus.heard = (socket, member) => {
      if (member !== altered && !timers.has(socket)) return;
      clearTimeout(timers.get(socket));
      // The delay is much longer than a reply takes; a slower client merely loses its connection.
      timers.set(
        socket,
        setTimeout(() => socket.destroy(), 25),
      );
    };
    bus.alter = (member, reply) => {
      if (member !== altered) return [reply];
      const hasBody = measureMessage(reply).header < reply.length;
      const damaged = hasBody && random.below(2) === 0 ? damageBody(random, reply) : mutate(random, [reply]);
      return isFollowed ? [damaged, reply] : [damaged];
    };
  }

  const plan = (random: Random) => Buffer.from(Uint32Array.of(random.below(2 ** 32)).buffer);

  test.skipIf(process.platform !== "linux")(
    "never make a credential absent",
    async () => {
      await using bus = await startRawBus({ value: "value" });
      using _ = setEnvironment(bus.env);
      const outcomes = new Map<string, number>();
      await fuzz("secrets over D-Bus", {
        inputs: [Buffer.alloc(4)],
        make: plan,
        count: 600,
        async check(bytes) {
          follow(bus, bytes);
          const secrets = createSecrets(openProvider);
          const outcome = await secrets.get("service", "name").then(
            (value) => (value === null ? "absent" : "found"),
            ({ code, stack }) => (/^ERR_SECRETS_/.test(code) ? code : stack),
          );
          outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
          if (
            !/^(?:found|ERR_SECRETS_(?:PLATFORM|UNAVAILABLE|DENIED|LOCKED|TIMEOUT|TOO_LARGE))$/.test(outcome)
          )
            throw new Error(outcome);
        },
      });
      if (process.env.RT_FUZZ) console.log(Object.fromEntries(outcomes));
      expect(outcomes.get("found")).toBeGreaterThan(0);
    },
    TIME_LIMIT,
  );

  test.skipIf(process.platform !== "linux")(
    "end `rt secrets get` with the value, or with exit code 2 and one line",
    async () => {
      await using bus = await startRawBus({ value: "value" });
      for (let seed = 1; seed <= Math.ceil(COUNT / 50); seed++) {
        follow(bus, plan(createRandom(seed + Number(process.env.RT_FUZZ_SEED ?? 0))));
        const { stdout, stderr, status } = await runRt({ args: ["secrets", "get", "a", "b"], env: bus.env });
        if (status === 0) expect({ seed, stderr }).toEqual({ seed, stderr: "" });
        else
          expect({ seed, stdout, stderr, status }).toEqual({
            seed,
            stdout: "",
            status: 2,
            stderr: expect.stringMatching(
              /^error: .*\n(?:hint: .*\n)?(?:hint: run rt doctor .*\nhint: or use an age-encrypted file, .*\n)?$/,
            ),
          });
      }
    },
    TIME_LIMIT,
  );
});
