// Holds what the process that decides calls reads: its request, and the permitted addresses. It is the launcher of the task, or a
// thread of rt for a traced task (../../native/linux/recorder/connect-guard.h). Also reads its reports, and serves connections to
// DNS servers.
import { closeDescriptor } from "../../native/posix/pipe.ts";
import { OutputReader } from "../../processes/posix/output-reader.ts";
import { receiveDescriptor } from "../../tracing/linux/fd-passing.ts";
import type { ChildPermissions, PermissionRules, RefusedCall } from "../contract/permissions.ts";
import { HostList, mayOpen } from "../host-list.ts";
import { type AddressBytes, classifyAddress, parseAddress, splitTarget } from "../ip-address.ts";
import type { HostResolver } from "./host-resolver.ts";
import { PermittedAddresses } from "./permitted-addresses.ts";
import { listRules } from "./rule-list.ts";
import { type HostsLine, readHostsFile } from "./system-names.ts";

const NETWORKS: readonly PermissionRules["network"][] = ["none", "loopback", "open"];
const OBSERVED_NETWORK = NETWORKS.length;
/** Size of `struct guard_request`, and the place of its pointer. */
const [HEADER, HOSTS] = [24, 16];
const NONE = -1;

interface GuardDescriptors {
  /** -1 if nothing is decided there. */
  readonly reports: number;
  /** The socket that passes connections to rt; by default, the thread is in rt. */
  readonly connections?: number;
}

/** Descriptors that rt shares with a launcher. */
export interface LauncherChannel {
  /** The file with the permitted addresses. */
  readonly file: number;
  /** A socket that receives connections to DNS servers. */
  readonly connections: number;
}

/** The calls that are decided: those of a child with permissions, or only the connections of an observed one to DNS servers. */
export interface GuardedChild extends Pick<ChildPermissions, "onRefusal"> {
  readonly rules: Pick<PermissionRules, "files" | "sockets" | "network" | "hosts">;
  readonly isObserved?: boolean;
}

/** Must be kept until a thread has ended that reads the permitted addresses. */
export class GuardSession {
  readonly #child: GuardedChild;
  readonly #addresses: PermittedAddresses;
  #resolver: HostResolver | undefined;
  #launcher: LauncherChannel | undefined;
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

  /** Returns a `struct guard_request` for a thread of rt, in a separate buffer because native code reads it. */
  encodeRequest(descriptors: GuardDescriptors): Uint8Array {
    const { files, sockets } = this.#child.rules;
    const list = listRules({ files, sockets, hidden: [], envFolders: [], home: "" });
    const bytes = this.#encode(descriptors, list);
    new DataView(bytes.buffer).setBigUint64(HOSTS, this.#addresses.pointer, true);
    return bytes;
  }

  /** Returns the content of the file that a launcher reads: the addresses, and the request with the list of all rules. */
  encodeFile(descriptors: GuardDescriptors, list: Uint8Array): Uint8Array {
    return Buffer.concat([this.#addresses.bytes, this.#encode(descriptors, list)]);
  }

  #encode({ reports, connections = NONE }: GuardDescriptors, list: Uint8Array): Uint8Array<ArrayBuffer> {
    const { rules, isObserved = false } = this.#child;
    const network = isObserved ? OBSERVED_NETWORK : NETWORKS.indexOf(rules.network);
    const bytes = new Uint8Array(new ArrayBuffer(HEADER + list.length));
    new Int32Array(bytes.buffer, 0, 4).set([reports, connections, network, list.length]);
    bytes.set(list, HEADER);
    return bytes;
  }

  /** Called once a launcher has what was encoded. The channel is owned by this object. */
  connectLauncher(channel: LauncherChannel): void {
    this.#launcher = channel;
  }

  /** Reads the reports from a pipe. */
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
    if (kind === "resolver") return this.#resolve(Number(target), caller);
    const call = { ...caller, kind: kind as RefusedCall["kind"], target };
    this.#child.onRefusal(kind === "host" ? this.#nameHost(call) : call);
  }

  /** @param number the descriptor, or the byte that a launcher has sent with it */
  #resolve(number: number, caller: Pick<RefusedCall, "pid" | "program">): void {
    const descriptor = this.#launcher ? receiveConnection(this.#launcher, number) : number;
    if (descriptor === undefined || descriptor < 0) return;
    try {
      this.#openResolver().accept(descriptor, caller);
    } catch {
      // The limit of open files is reached.
      closeDescriptor(descriptor);
    }
  }

  #openResolver(): HostResolver {
    if (this.#resolver) return this.#resolver;
    if (this.#launcher) this.#addresses.share(this.#launcher.file);
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
    if (!this.#launcher) return;
    closeDescriptor(this.#launcher.file);
    closeDescriptor(this.#launcher.connections);
  }
}

/** A connection whose report was lost comes before. */
function receiveConnection({ connections }: LauncherChannel, byte: number): number | undefined {
  for (;;) {
    const message = receiveDescriptor(connections);
    if (!message || message.byte === byte) return message?.descriptor;
    closeDescriptor(message.descriptor);
  }
}

/** A report has all digits of an address. */
function shortenAddress(target: string): string {
  const [host, port] = [target.slice(0, target.lastIndexOf(":")), target.slice(target.lastIndexOf(":"))];
  return `${URL.parse(`http://${host}`)?.hostname ?? host}${port}`;
}
