// Maps calls that are not only about paths to incomplete reasons.
import { hasForeignFormats } from "./binfmt-misc.ts";
import type { TraceBuilder } from "./trace-builder.ts";
import { TABLES } from "./syscall-tables.ts";

/** In the order of `enum untraceable` of ../../native/linux/recorder/syscall-handlers.h. */
const KINDS = [
  /** A call of another architecture. */
  "foreign",
  /** A call whose row has an incomplete reason, or without a row. */
  "called",
  /** The memory of the process cannot be read. */
  "denied",
  /** A program was executed by its descriptor. */
  "no-path",
  /** Path resolution has another root (RESOLVE_IN_ROOT). */
  "in-root",
  "exchanged",
  /** The kernel does not know the format of the program at `path`. */
  "format",
  "socket",
  /** A datagram socket: it may send to any address without connect. */
  "datagrams",
  "connect",
  "bind",
  /** The tracee has observed another state of the path than the recorder. */
  "contradicted",
  /** A connection to a server of the script itself (own-servers.h). */
  "own-connect",
  /** A TCP socket. */
  "stream",
  /** A query to a DNS server; `address` is the name of the host. */
  "query",
] as const;

export interface UntraceableCall {
  /** Index into KINDS. */
  readonly kind: number;
  /** Thread id. */
  readonly pid: number;
  readonly number: number;
  /** Socket address; empty if it cannot be read. */
  readonly address: Uint8Array;
  /** The path, or the calling program for a network socket. */
  readonly path: string;
}

const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
/** libc's name service cache. Without it libc reads the same files itself. */
const NAME_SERVICE_SOCKETS = ["/var/run/nscd/socket", "/run/nscd/socket"];

export function noteUntraceable(builder: TraceBuilder, call: UntraceableCall): void {
  const { pid, number, path } = call;
  switch (KINDS[call.kind]) {
    case "foreign":
      return builder.addIncompleteReason("foreign-call", "");
    case "called": {
      const [reason, name] = TABLES.incompleteReasons[number] ?? ["foreign-call", String(number)];
      return builder.addIncompleteReason(reason, name);
    }
    case "denied":
      return builder.addIncompleteReason("memory", `process ${pid}`);
    case "no-path":
      return builder.addIncompleteReason("descriptor-program", `process ${pid}`);
    case "in-root":
      return builder.addIncompleteReason("mount", "openat2");
    case "exchanged":
      return builder.addIncompleteReason("moved", path);
    case "format":
      return hasForeignFormats() ? builder.addIncompleteReason("unknown-format", path) : undefined;
    case "socket":
      return builder.addIncompleteReason("socket", "");
    case "datagrams":
      return builder.addIncompleteReason("network", `${programOf(call)}, datagrams`, true);
    case "connect":
      return noteConnection(builder, call);
    case "bind":
      return familyOf(call) === AF_UNIX ? builder.addBoundSocket(nameOf(call)) : undefined;
    case "contradicted":
      return builder.markContradicted(path);
    case "own-connect":
      builder.addConnection("host", addressIn(call.address));
      return builder.noteOwnConnection();
    case "stream":
      return builder.noteStream(programOf(call));
    case "query":
      return builder.addIncompleteReason(
        "network",
        `${programOf(call)}, ${new TextDecoder().decode(call.address)}`,
      );
    default:
      throw new Error("the journal contains an unknown record");
  }
}

function noteConnection(builder: TraceBuilder, call: UntraceableCall): void {
  const family = familyOf(call);
  if (family === AF_UNIX || family === undefined) {
    const name = family === undefined ? "" : nameOf(call);
    if (family !== undefined && !builder.isBound(name))
      builder.addConnection(name.startsWith("\0") ? "abstract" : "socket", name.replace("\0", ""));
    if (!NAME_SERVICE_SOCKETS.includes(name) && !builder.isBound(name))
      builder.addIncompleteReason("socket", name.replace("\0", "@"));
    return;
  }
  const address = addressIn(call.address);
  if (family === AF_INET || family === AF_INET6) builder.addConnection("host", address);
  // libc asks a DNS server, and connects to port 0 of each address of a host to sort them.
  const isOfLookup = /:(?:0|53)$/.test(address);
  builder.addIncompleteReason("network", `${programOf(call)}, ${address}`, isOfLookup);
}

function familyOf({ address }: UntraceableCall): number | undefined {
  return address.length === 0 ? undefined : address[0]! | (address[1]! << 8);
}

/** Returns the name of a Unix socket. An abstract name begins with NUL. */
function nameOf({ address, path }: UntraceableCall): string {
  return address[2] === 0 ? new TextDecoder().decode(address.subarray(2)) : path;
}

function programOf({ path, pid }: UntraceableCall): string {
  return path === "" ? `process ${pid}` : path.replace(/^.*\//, "");
}

function addressIn(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const family = view.getUint16(0, true);
  if (family === AF_INET && bytes.length >= 8) return `${bytes.slice(4, 8).join(".")}:${view.getUint16(2)}`;
  if (family !== AF_INET6 || bytes.length < 24) return `family ${family}`;
  const words = [0, 2, 4, 6, 8, 10, 12, 14].map((at) => view.getUint16(8 + at).toString(16));
  return `${new URL(`http://[${words.join(":")}]`).hostname}:${view.getUint16(2)}`;
}
