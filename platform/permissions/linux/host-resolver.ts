// Answers the DNS queries of a task with permissions. The task's connections to DNS servers lead here
// (../../native/linux/recorder/resolver-connection.h).
//
// Invariants:
// - Only permitted names leave this machine. Others get "no such name", and are reported.
// - The addresses of a permitted name are added to the permitted ones before the task gets the answer, and no others.
// - No name opens this host, its link, or a metadata service (DNS rebinding). A wildcard opens no private address.
// - The task cannot make this process wait, or keep more than a bounded amount of memory or connections.
// Non-obvious:
// - The system's resolver applies the search list, /etc/hosts and nsswitch.conf. So a name that the C library of the task has
//   completed by the search list is shortened first.
import { hostname } from "node:os";
import { closeDescriptor, writeAvailable } from "../../native/posix/pipe.ts";
import type { HostRule, RefusedCall } from "../contract/permissions.ts";
import { CODES, parseQuery, type Query, TYPE_A, TYPE_AAAA, writeAnswer } from "../dns-message.ts";
import { HostList, isHostName, type ListedName, mayOpen } from "../host-list.ts";
import {
  type AddressBytes,
  classifyAddress,
  LOOPBACK_ADDRESSES,
  parseAddress,
  v4BytesOf,
} from "../ip-address.ts";
import type { PermittedAddresses } from "./permitted-addresses.ts";
import { lookUp, readSearchList } from "./system-names.ts";

/** The longest query. Longer ones have options that no answer needs. */
const MAX_QUERY = 1024;
/** Queries of one connection that wait for an answer. */
const MAX_WAITING = 32;
/** Names that are resolved at a time. */
const MAX_LOOKUPS = 8;
const MAX_MEMORIZED = 256;
/** Addresses whose name is known. */
const MAX_NAMES = 4096;
/** Addresses of each family in an answer. */
const MAX_ADDRESSES = 16;
/** Milliseconds. */
const [IDLE_TIME, LIFETIME_OF_LOOKUP] = [10_000, 5000];

type ConnectingProcess = Pick<RefusedCall, "pid" | "program">;

interface Connection extends ConnectingProcess {
  readonly descriptor: number;
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  waiting: number;
  isClosed: boolean;
  close(): void;
}

interface NameLookup {
  readonly addresses: Promise<readonly string[] | undefined>;
  readonly expires: number;
}

export interface ResolverSettings {
  readonly rules: readonly HostRule[];
  readonly addresses: PermittedAddresses;
  /** The task has no limits; its names are recorded. */
  readonly isObserving: boolean;
  onRefusal(refusal: RefusedCall): void;
}

export class HostResolver {
  readonly #settings: ResolverSettings;
  readonly #list: HostList;
  readonly #connections = new Set<Connection>();
  readonly #lookups = new Map<string, NameLookup>();
  readonly #names = new Map<string, string>();
  #running = 0;
  #suffixes: readonly string[] | undefined;

  constructor(settings: ResolverSettings) {
    this.#settings = settings;
    this.#list = new HostList(settings.rules);
  }

  /** Returns the name whose answer had this address. */
  nameOf(address: AddressBytes): string | undefined {
    return this.#names.get(address.toHex());
  }

  /** Serves a connection. @param descriptor non-blocking; owned by this object */
  accept(descriptor: number, caller: ConnectingProcess): void {
    const connection: Connection = {
      ...caller,
      descriptor,
      waiting: 0,
      isClosed: false,
      reader: undefined,
      close: () => {
        if (connection.isClosed) return;
        connection.isClosed = true;
        this.#connections.delete(connection);
        void connection.reader?.cancel().catch(() => {});
        closeDescriptor(descriptor);
        this.#settings.addresses.releaseConnection();
      },
    };
    this.#connections.add(connection);
    void this.#serve(connection).finally(connection.close);
  }

  async #serve(connection: Connection): Promise<void> {
    const idle = setTimeout(
      () => (connection.waiting > 0 ? idle.refresh() : connection.close()),
      IDLE_TIME,
    ).unref();
    let rest = Buffer.alloc(0);
    try {
      const reader = Bun.file(connection.descriptor).stream().getReader();
      connection.reader = reader;
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        idle.refresh();
        rest = Buffer.concat([rest, value]);
        while (rest.length >= 2) {
          const length = rest.readUInt16BE(0);
          if (length > MAX_QUERY || connection.waiting >= MAX_WAITING) return;
          if (rest.length < 2 + length) break;
          const query = parseQuery(rest.subarray(2, 2 + length));
          if (!query) return;
          rest = rest.subarray(2 + length);
          void this.#answer(connection, query);
        }
      }
    } catch {
      // The connection was reset, or the limit of open files is reached.
    } finally {
      clearTimeout(idle);
    }
  }

  async #answer(connection: Connection, query: Query): Promise<void> {
    connection.waiting += 1;
    const { code, addresses } = await this.#resolve(query, connection);
    connection.waiting -= 1;
    if (connection.isClosed) return;
    const answer = writeAnswer(query, code, addresses);
    // A task that does not read its answers loses the connection.
    if (writeAvailable(connection.descriptor, answer) !== answer.length) connection.close();
  }

  async #resolve({ name, type }: Query, caller: ConnectingProcess): Promise<NameAnswer> {
    if (isOfThisHost(name)) return LOOPBACK;
    const { isObserving, onRefusal } = this.#settings;
    const short = this.#list.find(name) || isObserving ? name : this.#shorten(name);
    const listed = isObserving && isHostName(short) ? OBSERVED : this.#list.find(short);
    if (!listed) {
      const isReported = !/(?:^|\.)(?:in-addr|ip6)\.arpa$/.test(short) && short !== hostname().toLowerCase();
      if (isReported) onRefusal({ kind: "name", target: short, pid: caller.pid, program: caller.program });
      return NO_SUCH_NAME;
    }
    if (type !== TYPE_A && type !== TYPE_AAAA) return { code: CODES.ok, addresses: [] };
    const found = await this.#lookUp(short, listed);
    if (found === undefined) return { code: CODES.serverFailure, addresses: [] };
    if (found.length === 0) return NO_SUCH_NAME;
    return {
      code: CODES.ok,
      addresses: isObserving ? this.#record(short, found) : this.#open(short, listed, found, caller),
    };
  }

  /** Adds the addresses that the name may open, and returns them. */
  #open(
    name: string,
    listed: ListedName,
    found: readonly AddressBytes[],
    caller: ConnectingProcess,
  ): AddressBytes[] {
    const { addresses, onRefusal } = this.#settings;
    const opened = found.filter((address) => {
      if (mayOpen(address, listed)) return true;
      const kind = classifyAddress(address) === "private" ? "private" : "answer";
      const { pid, program } = caller;
      onRefusal({ kind, target: name, pid, program });
      return false;
    });
    for (const address of opened) for (const port of listed.ports) addresses.add(address, port);
    return this.#record(name, opened);
  }

  #record(name: string, addresses: readonly AddressBytes[]): AddressBytes[] {
    for (const address of addresses) setBounded(this.#names, address.toHex(), name, MAX_NAMES);
    return [...addresses];
  }

  /** Returns no addresses for a name that does not exist; undefined if the system's resolver fails. */
  async #lookUp(name: string, { isExact }: ListedName): Promise<AddressBytes[] | undefined> {
    const now = Date.now();
    let lookup = this.#lookups.get(name);
    if (!lookup || lookup.expires < now) {
      if (this.#running >= MAX_LOOKUPS && !isExact) return undefined;
      this.#running += 1;
      const addresses = lookUp(name).finally(() => (this.#running -= 1));
      lookup = { addresses, expires: now + LIFETIME_OF_LOOKUP };
      setBounded(this.#lookups, name, lookup, MAX_MEMORIZED);
    }
    const found = (await lookup.addresses)?.flatMap((address) => parseAddress(address) ?? []);
    if (!found) return undefined;
    const isV4 = (address: AddressBytes) => v4BytesOf(address) !== undefined;
    const limit = (all: readonly AddressBytes[]) => all.slice(0, MAX_ADDRESSES);
    return [...limit(found.filter(isV4)), ...limit(found.filter((address) => !isV4(address)))];
  }

  /** Removes a suffix of the search list. */
  #shorten(name: string): string {
    this.#suffixes ??= readSearchList();
    const suffix = this.#suffixes.find((each) => name.endsWith(each) && name.length > each.length);
    return suffix === undefined ? name : name.slice(0, -suffix.length);
  }

  close(): void {
    for (const { close } of this.#connections) close();
  }
}

interface NameAnswer {
  readonly code: number;
  readonly addresses: readonly AddressBytes[];
}

const NO_SUCH_NAME: NameAnswer = { code: CODES.noSuchName, addresses: [] };
const LOOPBACK: NameAnswer = { code: CODES.ok, addresses: LOOPBACK_ADDRESSES };
const OBSERVED: ListedName = { ports: [], isExact: true };

/** Sets a value as the newest one, and removes the oldest of too many. */
function setBounded<Value>(map: Map<string, Value>, key: string, value: Value, limit: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > limit) map.delete(map.keys().next().value!);
}

function isOfThisHost(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost");
}
