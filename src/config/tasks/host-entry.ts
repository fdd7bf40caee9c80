// Parses entries of `hosts` in the permissions of a task: a name, a name with a wildcard, or an address, each with a port. Pure.
import type { HostRule } from "../../../platform/permissions/contract/permissions.ts";
import { isHostName } from "../../../platform/permissions/host-list.ts";
import { ipVersion } from "../../../platform/permissions/ip-address.ts";

export const ALL_HOSTS = "*";
export const THIS_HOST = "localhost:*";
const LOCALHOST = "localhost";
/** Names are resolved by rt, outside of the task. */
const DNS_PORT = 53;
const MAX_PORT = 65_535;

type HostFault = readonly [problem: string, hint: string];

/** Returns the end of a sentence about an entry, and a hint; undefined for a valid entry. */
export function hostFault(entry: string): HostFault | undefined {
  const parsed = entry === ALL_HOSTS ? undefined : parseEntry(entry);
  return !parsed || "name" in parsed ? undefined : parsed;
}

/** Returns whether a valid entry opens all ports of this host, as THIS_HOST does. */
export function opensThisHost(entry: string): boolean {
  const parsed = parseEntry(entry);
  return "name" in parsed && parsed.name === LOCALHOST && parsed.port === 0;
}

/** Returns the rules of a valid entry; none for all hosts, and for all ports of this host. */
export function hostRulesOf(entry: string): HostRule[] {
  if (entry === ALL_HOSTS) return [];
  const rule = parseEntry(entry) as HostRule;
  if (rule.name !== LOCALHOST) return [rule];
  return rule.port === 0 ? [] : ["127.0.0.1", "::1"].map((name) => ({ name, port: rule.port }));
}

/** Entries for this host need no consent, except for its DNS over TLS, which can carry data to other hosts. */
export function needsConsent(entry: string): boolean {
  return !/^(?:localhost|127\.[\d.]+|\[::1\]):(?!0*853$)/i.test(entry);
}

function parseEntry(entry: string): HostRule | HostFault {
  const [, name = entry, digits] = /^(.*):(\d{1,5}|\*)$/.exec(entry) ?? [];
  if (digits === undefined || ipVersion(entry) === 6)
    return ["has no port", `write it as in "${suggestHost(entry)}:443"`];
  const port = digits === "*" ? 0 : Number(digits);
  if (digits !== "*" && (port === 0 || port > MAX_PORT))
    return ["has an invalid port", 'use a number from 1 to 65535, or "*" for all'];
  if (port === DNS_PORT)
    return ["has the port of DNS", "remove it: rt resolves the names of permitted hosts"];
  const address = /^\[(.*)\]$/.exec(name)?.[1] ?? name;
  if (ipVersion(address) !== 0 && !address.includes("%"))
    return name === address && ipVersion(address) === 6
      ? ["needs brackets", `write it as in "[${address}]:${digits}"`]
      : { name: address.toLowerCase(), port };
  const host = name.toLowerCase().replace(/\.$/, "");
  const suffix = host.startsWith("*.") ? host.slice(2) : host;
  if (!isHostName(suffix))
    return ["is not a host", 'for example "api.example.com:443", "*.example.com:443" or "192.0.2.1:443"'];
  if (suffix !== host && !suffix.includes("."))
    return ["is too wide", 'name a domain, as in "*.example.com:443", or "*" for all hosts'];
  return { name: host, port };
}

/** Returns the host of a text such as a URL. */
function suggestHost(entry: string): string {
  if (ipVersion(entry) === 6) return `[${entry}]`;
  const host = entry.replace(/^[a-z]+:\/\//i, "").replace(/[:/].*$/, "");
  return isHostName(host.toLowerCase()) ? host : "api.example.com";
}
