// Parses and classifies IP addresses, also with a port. Pure.

/** Bytes of an address; one of IPv4 is mapped to IPv6. */
export type AddressBytes = Uint8Array;

const SIZE = 16;
const V4_OFFSET = 12;

/** 127.0.0.1 and ::1, in bytes: to parse them would load node:net at the start of each cached run. */
export const LOOPBACK_ADDRESSES: readonly AddressBytes[] = [
  Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1),
  Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1),
];

const ADDRESS_CHARACTERS = /^[\da-f:.]+(?:%|$)/i;

/** Returns 4, 6, or 0 for a text that is not an address. Most names do not load node:net, which takes 5 ms. */
export function ipVersion(text: string): number {
  if (!ADDRESS_CHARACTERS.test(text)) return 0;
  return process.getBuiltinModule("node:net").isIP(text);
}

/** Returns undefined for a text that is not an address, or has a zone. */
export function parseAddress(text: string): AddressBytes | undefined {
  const version = ipVersion(text);
  if (version === 0 || text.includes("%")) return undefined;
  const bytes = new Uint8Array(SIZE);
  if (version === 4) {
    bytes.set([0xff, 0xff], V4_OFFSET - 2);
    bytes.set(text.split(".").map(Number), V4_OFFSET);
    return bytes;
  }
  const [head, tail] = text.split("::").map(groupsOf);
  bytes.set(head!);
  if (tail) bytes.set(tail, SIZE - tail.length);
  return bytes;
}

/** Returns the bytes of groups of IPv6, of which the last may be an address of IPv4. */
function groupsOf(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    if (group.includes(".")) return group.split(".").map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

/** Splits `host:port`. An address of IPv6 loses its brackets. */
export function splitTarget(target: string): { readonly host: string; readonly port: number } {
  const end = target.lastIndexOf(":");
  return {
    host: target.slice(0, Math.max(end, 0)).replace(/^\[(.*)\]$/, "$1"),
    port: Number(target.slice(end + 1)),
  };
}

/** Returns the 4 bytes of an address of IPv4; undefined for one of IPv6. */
export function v4BytesOf(bytes: AddressBytes): Uint8Array | undefined {
  return hasPrefix(bytes, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]) ? bytes.subarray(V4_OFFSET) : undefined;
}

/** Returns whether a connection to an address ends at this host, as to 0.0.0.0 and "::". */
export function isLoopback(bytes: AddressBytes): boolean {
  const v4 = v4BytesOf(bytes);
  if (v4) return v4[0] === 127 || v4.every((byte) => byte === 0);
  return bytes.subarray(0, SIZE - 1).every((byte) => byte === 0) && bytes[SIZE - 1]! <= 1;
}

/**
 * No host name may open a "closed" address: of this host, its link, a group, a metadata service, or a reserved one. "private" is an
 * address of a private network.
 */
export type AddressKind = "public" | "private" | "closed";

type Network = readonly [prefix: readonly number[], bits: number];

const CLOSED_V4: readonly Network[] = [
  [[0], 8],
  [[127], 8],
  [[169, 254], 16],
  [[192, 0, 0], 24],
  [[224], 3], // multicast, reserved, broadcast
  // Metadata services that are not link-local.
  [[100, 100, 100, 200], 32],
  [[168, 63, 129, 16], 32],
];
const PRIVATE_V4: readonly Network[] = [
  [[10], 8],
  [[100, 64], 10],
  [[172, 16], 12],
  [[192, 168], 16],
  [[198, 18], 15],
];
const METADATA_OF_AWS = [0xfd, 0, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0x54];
const METADATA_OF_GOOGLE = [0xfd, 0x20, 0, 0xce, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0x54];
const CLOSED_V6: readonly Network[] = [
  [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 96], // loopback, unspecified, and obsolete forms of IPv4
  [[0xfe, 0x80], 10],
  [[0xff], 8],
  [METADATA_OF_AWS, 128],
  [METADATA_OF_GOOGLE, 128],
];
const PRIVATE_V6: readonly Network[] = [
  [[0xfc], 7],
  [[0xfe, 0xc0], 10],
];
/** Addresses of IPv6 that contain one of IPv4, which a gateway reaches, with its place. */
const TRANSLATED: readonly (readonly [Network, offset: number])[] = [
  [[[0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0], 96], V4_OFFSET],
  [[[0, 0x64, 0xff, 0x9b, 0, 1], 48], V4_OFFSET],
  [[[0x20, 0x02], 16], 2],
];

export function classifyAddress(bytes: AddressBytes): AddressKind {
  const v4 = v4BytesOf(bytes);
  if (v4) return classify(v4, CLOSED_V4, PRIVATE_V4);
  for (const [network, offset] of TRANSLATED)
    if (isIn(bytes, network)) return classify(bytes.subarray(offset, offset + 4), CLOSED_V4, PRIVATE_V4);
  return classify(bytes, CLOSED_V6, PRIVATE_V6);
}

function classify(bytes: Uint8Array, closed: readonly Network[], local: readonly Network[]): AddressKind {
  if (closed.some((network) => isIn(bytes, network))) return "closed";
  return local.some((network) => isIn(bytes, network)) ? "private" : "public";
}

function isIn(bytes: Uint8Array, [prefix, bits]: Network): boolean {
  const whole = bits >> 3;
  const mask = 0xff & (0xff00 >> (bits & 7));
  return (
    hasPrefix(bytes, prefix.slice(0, whole)) &&
    (mask === 0 || ((bytes[whole]! ^ (prefix[whole] ?? 0)) & mask) === 0)
  );
}

function hasPrefix(bytes: Uint8Array, prefix: readonly number[]): boolean {
  return prefix.every((byte, index) => bytes[index] === byte);
}
