// A separate network for one command: a DNS server for the machine, HTTP servers, and addresses beyond loopback. It runs in
// user, network and mount namespaces, and prints what the command printed and the names that the DNS server was asked for.
//
//   world.ts <program> <argv...>
import { createSocket } from "node:dgram";

/** Answers of the DNS server, which resolves no other names. */
const RECORDS: Readonly<Record<string, readonly string[]>> = {
  "api.acme.test": ["198.51.100.7"],
  "eu.cdn.test": ["198.51.100.7"],
  "many.acme.test": Array.from({ length: 40 }, (_, index) => `203.0.113.${index + 1}`),
  "rebound.acme.test": ["127.0.0.1", "169.254.169.254", "0.0.0.0"],
  "half.acme.test": ["127.0.0.1", "198.51.100.7"],
  "intern.acme.test": ["10.1.2.3"],
  "intern.cdn.test": ["10.1.2.3"],
  "evil.test": ["198.51.100.9"],
  "db.corp.test": ["198.51.100.7"],
};

const asked = new Set<string>();

/** Returns the answer to a query of one question. */
function answer(query: Buffer): Buffer {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  const end = at + 5;
  const name = labels.join(".");
  asked.add(name);
  const found = RECORDS[name.toLowerCase()];
  const addresses = query.readUInt16BE(at + 1) === 1 ? (found ?? []) : [];
  const records = addresses.map((address) =>
    Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...address.split(".").map(Number)]),
  );
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(0x8180 | (found ? 0 : 3), 2);
  for (const [offset, count] of [
    [4, 1],
    [6, records.length],
    [8, 0],
    [10, 0],
  ] as const)
    header.writeUInt16BE(count, offset);
  return Buffer.concat([header, query.subarray(12, end), ...records]);
}

const dns = createSocket("udp4");
dns.on("message", (query, { port, address }) => dns.send(answer(query), port, address));
await new Promise<void>((resolve) => dns.bind(53, "127.0.0.1", resolve));
for (const port of [80, 8080])
  for (const hostname of ["198.51.100.7", "198.51.100.9", "10.1.2.3", "127.0.0.1"])
    Bun.serve({ hostname, port, fetch: () => new Response(`served by ${hostname}:${port}\n`) });

const child = Bun.spawn(process.argv.slice(2), { stdio: ["ignore", "inherit", "inherit"] });
const exit = await child.exited;
console.log(`asked: ${[...asked].toSorted().join(" ")}`);
process.exit(exit);
