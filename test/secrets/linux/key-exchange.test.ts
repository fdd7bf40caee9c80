// The start of a session with the secret service, whose part the test plays: both keys, zeroization, and the fallback to an
// unencrypted session.
import { describe, expect, spyOn, test } from "bun:test";
import type { Bus } from "../../../platform/secrets/linux/dbus/bus.ts";
import { BusFailure } from "../../../platform/secrets/linux/dbus/bus-failure.ts";
import { TypedValue } from "../../../platform/secrets/linux/dbus/dbus-decoder.ts";
import { openSession } from "../../../platform/secrets/linux/session.ts";
import { expectWithout, recordBuffers } from "../../support/keyring/recorded-buffers.ts";

const PRIME = BigInt(
  "0xFFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD" +
    "EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED" +
    "EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE65381FFFFFFFFFFFFFFFF",
);
const SIZE = 128; // length of a public key in bytes

type Answer = (call: Record<string, unknown>) => unknown[];

/** Returns a bus on which `answer` replies to every call; it may throw. */
function busOf(answer: Answer): Bus {
  return { call: async (call: Record<string, unknown>) => answer(call) } as unknown as Bus;
}

const toBytes = (value: bigint) => Buffer.from(value.toString(16).padStart(SIZE * 2, "0"), "hex");
const toBigInt = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
const publicKeyOf = ({ message }: Record<string, unknown>) => (message as Buffer).subarray(-SIZE);

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let bit = 159n; bit >= 0n; bit--) {
    result = (result * result) % PRIME;
    if ((exponent >> bit) & 1n) result = (result * base) % PRIME;
  }
  return result;
}

const encrypted = (key: bigint, path = "/session/a"): unknown[] => [new TypedValue("ay", toBytes(key)), path];

/** Runs `task` with these private keys of the client, in order. */
async function withPrivateKeys<T>(keys: readonly bigint[], task: () => Promise<T>): Promise<T> {
  const left = [...keys];
  const random = spyOn(crypto, "getRandomValues").mockImplementation((bytes: Uint8Array) => {
    bytes.set(
      Buffer.from(
        left
          .shift()!
          .toString(16)
          .padStart(bytes.length * 2, "0"),
        "hex",
      ),
    );
    return bytes;
  });
  try {
    return await task();
  } finally {
    random.mockRestore();
  }
}

/** HKDF of node:crypto, for comparison. */
async function derive(shared: bigint): Promise<Uint8Array> {
  const key = await crypto.subtle.importKey("raw", toBytes(shared), "HKDF", false, ["deriveBits"]);
  const empty = new Uint8Array(0);
  const hkdf = { name: "HKDF", hash: "SHA-256", salt: empty, info: empty };
  return new Uint8Array(await crypto.subtle.deriveBits(hkdf, key, 128));
}

describe.skipIf(process.platform !== "linux")("an encrypted session", () => {
  const SERVICE = 0x1234567890abcdef1234567890abcdef12345678n;

  test("an encrypted session shares its key with the service and zeroizes its key material", async () => {
    let shared = 0n;
    let key: Uint8Array | undefined;
    const buffers = await recordBuffers(async () => {
      const session = await openSession(
        busOf((call) => {
          shared = power(toBigInt(publicKeyOf(call)), SERVICE);
          return encrypted(power(2n, SERVICE));
        }),
      );
      key = session.key;
    });
    expect(Buffer.from(key!).equals(await derive(shared))).toBe(true);
    const others = buffers.filter((bytes) => bytes !== key);
    expect(others.length).toBeGreaterThan(4);
    const extracted = new Bun.CryptoHasher("sha256", new Uint8Array(32)).update(toBytes(shared)).digest();
    for (const secret of [toBytes(shared), extracted, key!]) expectWithout(others, secret);
  });

  test("an encrypted session sends a key of full length even for a small number", async () => {
    const sent: Buffer[] = [];
    const answer: Answer = (call) => {
      sent.push(Buffer.from(publicKeyOf(call)));
      return encrypted(power(2n, SERVICE));
    };
    await withPrivateKeys([5n], () => openSession(busOf(answer)));
    expect(sent).toEqual([toBytes(32n)]);
  });

  // KWallet derives another key from a secret that begins with a zero byte.
  test("an encrypted session is opened again when the shared secret begins with a zero byte", async () => {
    const keys = [2n, 3n, power(2n, 159n) - 1n];
    const answers = [
      encrypted(2n, "/short"),
      encrypted(4n, "/short"),
      encrypted(power(2n, SERVICE), "/whole"),
    ];
    const { path } = await withPrivateKeys(keys, () => openSession(busOf(() => answers.shift()!)));
    expect(path).toBe("/whole");
  });
});

describe.skipIf(process.platform !== "linux")("a session without encryption", () => {
  const openAfter = async (native: string | undefined, kind: "answered" | "timeout" = "answered") => {
    let calls = 0;
    const opened = openSession(
      busOf(() => {
        calls += 1;
        if (calls === 1) throw new BusFailure(kind, "no", native);
        return ["", "/plain"];
      }),
    );
    const result = await opened.catch((error: BusFailure) => error.native ?? error.kind);
    return { result, calls };
  };

  test.each(["NotSupported", "InvalidArgs", "Failed"])("is requested after %s", async (name) => {
    const { result, calls } = await openAfter(`org.freedesktop.DBus.Error.${name}`);
    expect(result).toEqual({ path: "/plain", key: undefined, isProven: true });
    expect(calls).toBe(2);
  });

  test.each(["ServiceUnknown", "NoReply", "NameHasNoOwner", "Spawn.ChildExited", "AccessDenied"])(
    "is not requested after %s, because no service answered",
    async (name) => {
      const native = `org.freedesktop.DBus.Error.${name}`;
      expect(await openAfter(native)).toEqual({ result: native, calls: 1 });
    },
  );

  test("a plain session is not requested after a timeout", async () => {
    expect(await openAfter(undefined, "timeout")).toEqual({ result: "timeout", calls: 1 });
  });
});
