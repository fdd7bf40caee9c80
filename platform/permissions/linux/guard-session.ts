// Holds what a thread that decides calls reads: its request, and the permitted addresses. The thread is in
// ../../native/linux/recorder/connect-guard.h. Also reads its reports, and serves connections to DNS servers.
import { OutputReader } from "../../processes/posix/output-reader.ts";
import type { ChildPermissions, PermissionRules, RefusedCall } from "../contract/permissions.ts";
import { HostList, mayOpen } from "../host-list.ts";
import { type AddressBytes, classifyAddress, parseAddress, splitTarget } from "../ip-address.ts";
import type { HostResolver } from "./host-resolver.ts";
import { PermittedAddresses } from "./permitted-addresses.ts";
import { type HostsLine, readHostsFile } from "./system-names.ts";

const NETWORKS: readonly PermissionRules["network"][] = ["none", "loopback", "open"];
const OBSERVED_NETWORK = NETWORKS.length;
const HEADER = 8 * 4;

interface GuardDescriptors {
  readonly socket: number;
  readonly stop: number;
  readonly reports: number;
}

/** The calls that the thread decides: those of a child with permissions, or only the connections of an observed one to DNS servers. */
export interface GuardedChild extends Pick<ChildPermissions, "onRefusal"> {
  readonly rules: Pick<PermissionRules, "files" | "sockets" | "network" | "hosts">;
  readonly isObserved?: boolean;
}

/** Must be kept until the thread has ended, which reads the permitted addresses. */
export class GuardSession {
  readonly #child: GuardedChild;
  readonly #addresses: PermittedAddresses;
  #resolver: HostResolver | undefined;
  #hostsFile: readonly HostsLine[] | undefined;

  constructor(child: GuardedChild) {
    this.#child = child;
    const { hosts } = child.rules;
    this.#addresses = new PermittedAddresses(hosts.length === 0 && child.isObserved !== true);
    for (const { name, port } of hosts) {
      const address = parseAddress(name);
      if (address) this.#addresses.add(address, port);
    }
    const list = new HostList(hosts);
    if (!list.isEmpty) this.#addHostsFile(list);
  }

  /** The C library of a task reads this file before it asks a DNS server. */
  #addHostsFile(list: HostList): void {
    for (const [address, names] of this.#hostsLines)
      for (const name of names) {
        const listed = list.find(name);
        if (listed && mayOpen(address, listed))
          for (const port of listed.ports) this.#addresses.add(address, port);
      }
  }

  /** Returns a `struct guard_request`, in a separate buffer because native code reads it. */
  encodeRequest({ socket, stop, reports }: GuardDescriptors): Uint8Array {
    const { rules, isObserved = false } = this.#child;
    const sockets = rules.sockets.map((path) => `s${path}\0`);
    const files = rules.files.filter(({ access }) => access === "write");
    const roots = new TextEncoder().encode([...sockets, ...files.map(({ path }) => `w${path}\0`)].join(""));
    const network = isObserved ? OBSERVED_NETWORK : NETWORKS.indexOf(rules.network);
    const buffer = new ArrayBuffer(HEADER + roots.length + 8);
    new Int32Array(buffer, 0, 6).set([socket, stop, reports, network, roots.length, 0]);
    new BigUint64Array(buffer, 24, 1)[0] = this.#addresses.pointer;
    new Uint8Array(buffer).set(roots, HEADER);
    return new Uint8Array(buffer);
  }

  /** Reads what the thread writes to a pipe. */
  openReports(reader: number): OutputReader {
    let rest = "";
    const decoder = new TextDecoder();
    return new OutputReader(reader, (bytes) => {
      // A report is two texts, each before a NUL, and a line break. The texts have line breaks too, but no NUL.
      const texts = (rest + decoder.decode(bytes, { stream: true })).split("\0");
      rest = texts.pop()!;
      if (texts.length % 2 === 1) rest = `${texts.pop()!}\0${rest}`;
      for (let each = 0; each < texts.length; each += 2) this.#handle(texts[each]!, texts[each + 1]!);
    });
  }

  #handle(start: string, target: string): void {
    const [, pid, kind, program] = /^\n?(\d+) (\w+) ([^]*)$/.exec(start) ?? [];
    if (pid === undefined) return;
    const caller = { pid: Number(pid), program: program! };
    if (kind === "resolver") return this.#openResolver().accept(Number(target), caller);
    const call = { ...caller, kind: kind as RefusedCall["kind"], target };
    this.#child.onRefusal(kind === "host" ? this.#nameHost(call) : call);
  }

  #openResolver(): HostResolver {
    if (this.#resolver) return this.#resolver;
    const { rules, isObserved = false, onRefusal } = this.#child;
    // Most tasks look up no name.
    const resolvers = require("./host-resolver.ts") as typeof import("./host-resolver.ts");
    this.#resolver = new resolvers.HostResolver({
      rules: rules.hosts,
      addresses: this.#addresses,
      isObserving: isObserved,
      onRefusal,
    });
    return this.#resolver;
  }

  /** Replaces an address that the resolver has given by its name. */
  #nameHost(call: RefusedCall): RefusedCall {
    const target = shortenAddress(call.target);
    return { ...call, target: this.nameOf(target) ?? target };
  }

  /** Returns `name:port` for `address:port`, if the resolver or /etc/hosts has the address. */
  nameOf(target: string): string | undefined {
    const { host, port } = splitTarget(target);
    const address = parseAddress(host);
    const name = address && (this.#resolver?.nameOf(address) ?? this.#nameInHostsFile(address));
    return name === undefined ? undefined : `${name}:${port}`;
  }

  #nameInHostsFile(address: AddressBytes): string | undefined {
    if (classifyAddress(address) === "closed") return undefined;
    return this.#hostsLines.find(([other]) => other.toHex() === address.toHex())?.[1][0];
  }

  get #hostsLines(): readonly HostsLine[] {
    return (this.#hostsFile ??= readHostsFile());
  }

  close(): void {
    this.#resolver?.close();
  }
}

/** The thread writes all digits of an address. */
function shortenAddress(target: string): string {
  const [host, port] = [target.slice(0, target.lastIndexOf(":")), target.slice(target.lastIndexOf(":"))];
  return `${URL.parse(`http://${host}`)?.hostname ?? host}${port}`;
}
