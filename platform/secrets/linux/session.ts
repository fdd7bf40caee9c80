// The encrypted session of the Secret Service API, in which secret values are transferred.
//
// `dh-ietf1024-sha256-aes128-cbc-pkcs7`: ephemeral Diffie-Hellman key in the second Oakley group, AES key by HKDF-SHA-256 without
// salt and info, a random IV for each value. A service that does not support it gets a `plain` session, as the specification requires.
//
// Non-obvious:
// - The group is small today. Its purpose is that buffers of the bus, the kernel and this process contain no plaintext.
// - BigInt computes the key: node:crypto takes 3 ms to load and 57 ms to check the prime.
import { ProviderFailure } from "../contract/secret-provider.ts";
import { decrypt, encrypt } from "./aes-cbc.ts";
import { type Bus, MACHINE_TIMEOUT } from "./dbus/bus.ts";
import { BusFailure } from "./dbus/bus-failure.ts";
import { UNDECIPHERABLE } from "./failures.ts";
import { SERVICE_INTERFACE, SERVICE_NAME, SERVICE_PATH } from "./dbus/dbus-names.ts";
import { align, prepareOpenSession, PUBLIC_KEY_SIZE } from "./dbus/prepared-messages.ts";
import { MAX_MESSAGE, type TypedValue } from "./dbus/dbus-decoder.ts";
import { malformed } from "./dbus/reply-signatures.ts";

const KEY_SIZE = 16;
/** Maximum size of a transferred value in bytes: a stored value must be readable in one message. */
const MAX_CONTENT = MAX_MESSAGE - 2 ** 12;
/** 160 bits: twice the strength of the group, as RFC 3526 recommends. */
const PRIVATE_KEY_SIZE = 20;
const PRIME = BigInt(
  "0xFFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD" +
    "EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED" +
    "EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE65381FFFFFFFFFFFFFFFF",
);

/** The structure `(oayays)`: session, parameters, value, content type. */
export type Secret = [string, Uint8Array, Uint8Array, string];

export interface SecretServiceSession {
  readonly path: string;
  /** Undefined in a plain session. */
  readonly key: Uint8Array | undefined;
  /**
   * Whether a read has proved that the service has the same key. KWallet has another key in one of 150 sessions, for example if
   * the shared secret begins with a zero byte. It silently drops values that are stored in such a session.
   */
  isProven: boolean;
}

/** KWallet numbers its sessions; other services do not. */
const IS_NUMBERED = /\/\d+$/;

/** Errors for which another algorithm does not help: the service is unavailable. */
const IS_ABSENT = /\.(ServiceUnknown|NoReply|NameHasNoOwner|Spawn\.\w+|AccessDenied|Disconnected|TimedOut)$/;

interface DiffieHellmanKeys {
  readonly privateKey: bigint;
  readonly publicKey: Uint8Array;
}

function createKeyPair(): DiffieHellmanKeys {
  const privateKey = toBigInt(crypto.getRandomValues(new Uint8Array(PRIVATE_KEY_SIZE)));
  return { privateKey, publicKey: toBytes(power(2n, privateKey)) };
}

/** @param timeout in milliseconds, for each of up to two calls @throws BusFailure */
export async function openSession(bus: Bus, timeout = MACHINE_TIMEOUT): Promise<SecretServiceSession> {
  let made: DiffieHellmanKeys | undefined;
  const pair = () => (made ??= createKeyPair());
  bus.onOpen = pair; // computed while the bus authenticates
  try {
    const opened = bus.call(
      prepareOpenSession(() => pair().publicKey),
      timeout,
    );
    const [output, path] = (await opened) as [TypedValue, string];
    const theirs = toPublicKey(output);
    const shared = toBytes(power(theirs, pair().privateKey));
    if (shared[0] === 0) return await openSession(bus, timeout);
    return { path, key: deriveKey(shared), isProven: !IS_NUMBERED.test(path) };
  } catch (error) {
    const isRefused =
      error instanceof BusFailure &&
      error.kind === "answered" &&
      error.native &&
      !IS_ABSENT.test(error.native);
    if (!isRefused) throw error;
  }
  const { Variant } = await import("./dbus/dbus-encoder.ts");
  const service = { destination: SERVICE_NAME, path: SERVICE_PATH, interface: SERVICE_INTERFACE };
  const call = { ...service, member: "OpenSession", signature: "sv", body: ["plain", new Variant("s", "")] };
  const [, path] = (await bus.call(call, timeout)) as [unknown, string];
  return { path, key: undefined, isProven: true };
}

/** Returns the service's public key. Rejects keys that make the shared secret predictable. */
function toPublicKey({ signature, value }: TypedValue): bigint {
  const bytes = value as Uint8Array;
  const isShort = signature === "ay" && bytes.length <= PUBLIC_KEY_SIZE + 1; // KWallet may prepend a zero
  const key = isShort ? toBigInt(bytes) : 0n;
  if (key <= 1n || key >= PRIME - 1n) throw malformed("a public key", "not one of the group");
  return key;
}

/** HKDF-SHA-256 with an empty salt and no info; one block suffices. Zeroizes its input. */
function deriveKey(shared: Uint8Array): Uint8Array {
  const extracted = hmac(new Uint8Array(32), shared);
  const expanded = hmac(extracted, Uint8Array.of(1));
  const key = expanded.slice(0, KEY_SIZE);
  for (const bytes of [shared, extracted, expanded]) bytes.fill(0);
  return key;
}

function hmac(key: Uint8Array, data: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new Bun.CryptoHasher("sha256", key).update(data).digest());
}

/** Marshals `prefix` and the value as a body that ends in `(oayays)` and `suffix`. `value` stays the caller's. */
export async function encodeSecret(
  session: SecretServiceSession,
  value: Uint8Array,
  prefix: Uint8Array,
  suffix: Uint8Array,
): Promise<Uint8Array> {
  const type = isPlainText(value) ? "text/plain" : "application/octet-stream";
  const parameters = session.key ? crypto.getRandomValues(new Uint8Array(16)) : new Uint8Array(0);
  const { marshall } = await import("./dbus/dbus-encoder.ts");
  const content = session.key ? await encrypt(session.key, parameters, value) : value;
  if (content.length > MAX_CONTENT)
    throw new ProviderFailure(
      "TOO_LARGE",
      "A keyring takes values of less than 16 MiB; store a shorter value",
    );
  const head = marshall("oay", [session.path, parameters]);
  const tail = marshall("s", [type]);
  const start = align(prefix.length, 8);
  const lengthAt = align(start + head.length, 4);
  const tailAt = align(lengthAt + 4 + content.length, 4);
  const body = Buffer.alloc(tailAt + tail.length + suffixSize(tailAt + tail.length, suffix));
  body.set(prefix);
  body.set(head, start);
  body.writeUInt32LE(content.length, lengthAt);
  body.set(content, lengthAt + 4);
  body.set(tail, tailAt);
  body.set(suffix, body.length - suffix.length);
  return body;
}

/** Returns a copy of the value, which the caller owns. Zeroizes the received bytes. */
export async function decodeSecret(
  session: SecretServiceSession,
  [, parameters, content]: Secret,
): Promise<Uint8Array> {
  try {
    const value = session.key ? await decrypt(session.key, parameters, content) : Uint8Array.from(content);
    session.isProven = true;
    return value;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new BusFailure("answered", `a value that cannot be decrypted, ${reason}`, UNDECIPHERABLE);
  } finally {
    content.fill(0);
  }
}

/** KWallet truncates a text at its first NUL and drops a byte order mark, but preserves other types. */
function isPlainText(value: Uint8Array): boolean {
  const hasByteOrderMark = value[0] === 0xef && value[1] === 0xbb && value[2] === 0xbf;
  return !hasByteOrderMark && !value.includes(0);
}

function suffixSize(offset: number, suffix: Uint8Array): number {
  return suffix.length === 0 ? 0 : align(offset, 4) - offset + suffix.length;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let square = base; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) result = (result * square) % PRIME;
    square = (square * square) % PRIME;
  }
  return result;
}

function toBigInt(bytes: Uint8Array): bigint {
  return BigInt(`0x0${Buffer.from(bytes).toString("hex")}`);
}

/** Padded on the left: KWallet rejects a shorter number, and other services derive another key. */
function toBytes(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(PUBLIC_KEY_SIZE * 2, "0"), "hex");
}
