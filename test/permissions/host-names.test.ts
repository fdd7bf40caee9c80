// Parsers of what a task or a DNS server sends: addresses and DNS messages; and the lists that decide about them.
import { toArrayBuffer } from "bun:ffi";
import { expect, test } from "bun:test";
import { parseQuery } from "../../platform/permissions/dns-message.ts";
import { HostList, type ListedName, mayOpen } from "../../platform/permissions/host-list.ts";
import {
  classifyAddress,
  isLoopback,
  parseAddress,
  splitTarget,
} from "../../platform/permissions/ip-address.ts";
import { PermittedAddresses } from "../../platform/permissions/linux/permitted-addresses.ts";
import { createRandom } from "../support/random.ts";

const KINDS = {
  public: ["8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "64:ff9b::808:808", "2002:808:808::1"],
  private: [
    "10.0.0.1",
    "172.31.255.1",
    "192.168.0.1",
    "100.64.0.1",
    "fd12::1",
    "::ffff:10.0.0.1",
    "64:ff9b::a00:1",
  ],
  closed: [
    ...["0.0.0.0", "127.0.0.1", "127.255.0.1", "169.254.169.254", "224.0.0.1", "255.255.255.255"],
    ...["::", "::1", "::127.0.0.1", "fe80::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:7f00:1"],
    ...[
      "64:ff9b::7f00:1",
      "2002:7f00:1::",
      "100.100.100.200",
      "168.63.129.16",
      "fd00:ec2::254",
      "fd20:ce::254",
    ],
  ],
} as const;

test("an address of this host, its link or a metadata service is closed in each of its forms", () => {
  for (const [kind, addresses] of Object.entries(KINDS))
    for (const address of addresses)
      expect([address, classifyAddress(parseAddress(address)!)]).toEqual([address, kind as "public"]);
  expect(["fe80::1%eth0", "1.2.3", "::g", ""].map(parseAddress)).toEqual(Array(4).fill(undefined));
});

test("an address that a connection reaches this host by is loopback, with a port or without", () => {
  const here = ["127.0.0.1:80", "127.9.0.1:80", "0.0.0.0:80", "[::]:80", "[::1]:80", "[::ffff:7f00:1]:80"];
  const others = ["128.0.0.1:80", "[::2]:80", "[1::1]:80", "[::ffff:8.8.8.8]:80"];
  const isHere = (target: string) => isLoopback(parseAddress(splitTarget(target).host)!);
  expect([here.map(isHere), others.map(isHere)]).toEqual([Array(6).fill(true), Array(4).fill(false)]);
  expect(["*", "127.example.com:443"].map((target) => parseAddress(splitTarget(target).host))).toEqual([
    undefined,
    undefined,
  ]);
});

test("a DNS query is one plain question, and its name has no byte that is not escaped", () => {
  const header = [0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1];
  const valid = [...header, 3, ...Buffer.from("API"), 5, ...Buffer.from("a.c\0\n"), 0, 0, 28, 0, 1, 0, 0, 41];
  expect(parseQuery(Uint8Array.from(valid))).toMatchObject({
    id: 7,
    name: "api.a\\046c\\000\\010",
    type: 28,
  });
  const random = createRandom(1);
  for (let each = 0; each < 20_000; each += 1) {
    const message = Uint8Array.from(valid).slice(0, random.below(valid.length + 1));
    for (let change = random.below(4); change > 0 && message.length > 0; change -= 1)
      message[random.below(message.length)] = random.below(256);
    expect(parseQuery(message)?.name ?? "").toMatch(/^(?:[a-z0-9_.-]|\\\d{3})*$/);
  }
});

test("a DNS query that is an answer, has two questions or is truncated is refused, one with the longest name is not", () => {
  const query = (labels: readonly number[], flags = [1, 0], questions = 1) => {
    const name = labels.flatMap((length) => [length, ...Buffer.alloc(length, "a")]);
    return Uint8Array.from([0, 7, ...flags, 0, questions, 0, 0, 0, 0, 0, 0, ...name, 0, 0, 28, 0, 1]);
  };
  const longest = [63, 63, 63, 61];
  expect(parseQuery(query(longest))?.name).toHaveLength(253);
  const refused = [
    ...[query([64]), query([63, 63, 63, 62]), query([1], [0x81, 0]), query([1], [0x11, 0])],
    ...[query([1], [1, 0], 2), query([1], [1, 0], 0), query([3]).subarray(0, -5), query([3]).subarray(0, -1)],
  ];
  expect(refused.map(parseQuery)).toEqual(refused.map(() => undefined));
});

test("a host has the ports of all its entries, and a wildcard opens no private address", () => {
  const list = new HostList([
    { name: "api.test", port: 443 },
    { name: "api.test", port: 8443 },
    { name: "*.test", port: 80 },
    { name: "192.0.2.1", port: 0 },
  ]);
  const [exact, wild] = [list.find("api.test")!, list.find("other.test")!];
  expect(exact).toEqual({ ports: [443, 8443, 80], isExact: true });
  expect(wild).toEqual({ ports: [80], isExact: false });
  expect(list.find("192.0.2.1")).toBeUndefined();
  const opens = (name: ListedName) =>
    ["8.8.8.8", "10.0.0.1", "127.0.0.1"].map((each) => mayOpen(parseAddress(each)!, name));
  expect([opens(exact), opens(wild)]).toEqual([
    [true, true, false],
    [true, false, false],
  ]);
  const isEmpty = (rules: ConstructorParameters<typeof HostList>[0]) => new HostList(rules).isEmpty;
  const [address, host] = ["192.0.2.1", "*.test"].map((name) => [{ name, port: 0 }]);
  expect([isEmpty(address!), isEmpty(host!)]).toEqual([true, false]);
});

test("a wildcard has host names only, whose labels have no escaped byte", () => {
  const list = new HostList([{ name: "*.cdn.test", port: 443 }]);
  const names = [
    "eu.cdn.test",
    "a.eu.cdn.test",
    "cdn.test",
    "a\\046b.cdn.test",
    "\\000.cdn.test",
    ".cdn.test",
  ];
  expect(names.filter((name) => list.find(name))).toEqual(["eu.cdn.test", "a.eu.cdn.test"]);
});

test("a full list of permitted addresses loses its oldest entry", () => {
  const [entries, header, size] = [1024, 8, 24];
  const addresses = new PermittedAddresses();
  const addressOf = (index: number) => parseAddress(`203.0.${index >> 8}.${index & 0xff}`)!;
  // One that is resolved again keeps its place.
  for (let index = 0; index <= entries; index += 1)
    for (const port of [443, 443]) addresses.add(addressOf(index), port);
  const memory = new Uint8Array(toArrayBuffer(Number(addresses.pointer), 0, header + entries * size));
  const entryAt = (index: number) => [...memory.subarray(header + index * size).subarray(0, size)];
  const portInNetworkOrder = [443 >> 8, 443 & 0xff, 0, 0];
  expect(entryAt(0)).toEqual([4, 0, 0, 0, ...portInNetworkOrder, ...addressOf(entries)]);
  expect(entryAt(1)).toEqual([2, 0, 0, 0, ...portInNetworkOrder, ...addressOf(1)]);
});
