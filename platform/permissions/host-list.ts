// Finds out whether a name is one of the permitted hosts. Pure.
import type { HostRule } from "./contract/permissions.ts";
import { type AddressBytes, classifyAddress, parseAddress } from "./ip-address.ts";

export interface ListedName {
  /** The permitted ports; 0 means all. */
  readonly ports: readonly number[];
  /** Whether an entry without a wildcard names it. */
  readonly isExact: boolean;
}

/** Returns whether a name of the list opens an address. A wildcard opens no private one, and no name a closed one. */
export function mayOpen(address: AddressBytes, { isExact }: ListedName): boolean {
  const kind = classifyAddress(address);
  return kind === "public" || (kind === "private" && isExact);
}

const WILDCARD = "*.";

export class HostList {
  readonly #exact = new Map<string, number[]>();
  readonly #suffixes: (readonly [suffix: string, port: number])[] = [];

  constructor(rules: readonly HostRule[]) {
    for (const { name, port } of rules) {
      if (parseAddress(name)) continue;
      if (name.startsWith(WILDCARD)) this.#suffixes.push([name.slice(1), port]);
      else this.#exact.set(name, [...(this.#exact.get(name) ?? []), port]);
    }
  }

  get isEmpty(): boolean {
    return this.#exact.size === 0 && this.#suffixes.length === 0;
  }

  /** @param name in lower case, without a dot at its end */
  find(name: string): ListedName | undefined {
    const exact = this.#exact.get(name) ?? [];
    const ofWildcards = this.#suffixes.filter(([suffix]) => name.endsWith(suffix) && isHostName(name));
    const ports = [...exact, ...ofWildcards.map(([, port]) => port)];
    return ports.length === 0 ? undefined : { ports, isExact: exact.length > 0 };
  }
}

/** Returns whether every label has characters of host names only. A name that the resolver reads as an address is not a host name. */
export function isHostName(name: string): boolean {
  const labels = name.split(".");
  return (
    name.length <= 253 &&
    labels.every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label)) &&
    !/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1)!)
  );
}
