// How this machine resolves names: the C library, /etc/hosts, and the search list of /etc/resolv.conf.
import { files } from "../../files/files.ts";
import { type AddressBytes, parseAddress } from "../ip-address.ts";

/** Returns no addresses for a name that does not exist; undefined after a failure. */
export async function lookUp(name: string): Promise<readonly string[] | undefined> {
  try {
    // The C library, because it also reads /etc/hosts and nsswitch.conf.
    const found = await Bun.dns.lookup(name, { backend: "libc" });
    return found.map(({ address }) => address);
  } catch (error) {
    const isUnknown = ["DNS_ENOTFOUND", "DNS_ENODATA", "DNS_ENONAME"].includes(
      (error as { code?: string }).code ?? "",
    );
    return isUnknown ? [] : undefined;
  }
}

/** Returns the suffixes that resolvers append, each with the dot before it. */
export function readSearchList(): string[] {
  const lines = readText("/etc/resolv.conf").matchAll(/^\s*(?:search|domain)\s+(.*)$/gm);
  return [...lines]
    .flatMap(([, domains]) => domains!.trim().toLowerCase().split(/\s+/))
    .map((each) => `.${each.replace(/\.$/, "")}`);
}

/** An address of /etc/hosts, with its names in lower case. */
export type HostsLine = readonly [AddressBytes, names: readonly string[]];

export function readHostsFile(): HostsLine[] {
  return readText("/etc/hosts")
    .split("\n")
    .flatMap((line) => {
      const [address = "", ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
      const bytes = parseAddress(address);
      return bytes ? [[bytes, names.map((name) => name.toLowerCase())] as const] : [];
    });
}

/** Returns "" for a file that cannot be read. */
function readText(path: string): string {
  const content = files.readFile(path);
  return typeof content === "string" ? "" : new TextDecoder().decode(content);
}
