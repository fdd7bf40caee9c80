// Calls that are no matter of paths alone: what each of them is a doubt about, if it is one.
import { hasForeignFormats } from "./binfmt-misc.ts";
import type { TraceBuilder } from "./trace-builder.ts";
import { TABLES } from "./syscall-tables.ts";

/** In the order of `enum unusual` of ../native/recorder/recorder.c. */
const KINDS = [
  /** Of another architecture. */
  "foreign",
  /** One that the table says all about, or knows nothing of. */
  "called",
  /** The memory of the process cannot be read. */
  "denied",
  /** A program was started by its descriptor. */
  "no-path",
  /** Paths were to begin somewhere else. */
  "in-root",
  "exchanged",
  /** The kernel does not know the format of the program at `path` by itself. */
  "format",
  "socket",
  /** A socket that may send to any address without having connected. */
  "datagrams",
  "connect",
  "bind",
  /** Of a path it is told otherwise by who has called than by who has looked. */
  "contradicted",
] as const;

export interface UnusualCall {
  /** A place in the list above. */
  readonly kind: number;
  /** Of the thread. */
  readonly pid: number;
  readonly number: number;
  /** Of a socket; empty where it cannot be read. */
  readonly address: Uint8Array;
  /** What it is about: of a socket without one, the program that calls. */
  readonly path: string;
}

const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
/** Asked by libc for users and hosts, of which it then knows no more than the files say. */
const NAME_SERVICE = ["/var/run/nscd/socket", "/run/nscd/socket"];

export function noteUntraceable(observation: TraceBuilder, call: UnusualCall): void {
  const { pid, number, path } = call;
  switch (KINDS[call.kind]) {
    case "foreign":
      return observation.doubt("foreign-call", "");
    case "called": {
      const [doubt, name] = TABLES.doubts[number] ?? ["foreign-call", String(number)];
      return observation.doubt(doubt, name);
    }
    case "denied":
      return observation.doubt("memory", `process ${pid}`);
    case "no-path":
      return observation.doubt("descriptor-program", `process ${pid}`);
    case "in-root":
      return observation.doubt("mount", "openat2");
    case "exchanged":
      return observation.doubt("moved", path);
    case "format":
      return hasForeignFormats() ? observation.doubt("unknown-format", path) : undefined;
    case "socket":
      return observation.doubt("socket", "");
    case "datagrams":
      return observation.doubt("network", `${programOf(call)}, datagrams`, true);
    case "connect":
      return noteConnection(observation, call);
    case "bind":
      return familyOf(call) === AF_UNIX ? observation.bind(nameOf(call)) : undefined;
    case "contradicted":
      return observation.contradict(path);
    default:
      throw new Error("the journal has a record that nobody knows");
  }
}

function noteConnection(observation: TraceBuilder, call: UnusualCall): void {
  const family = familyOf(call);
  if (family === AF_UNIX || family === undefined) {
    const name = family === undefined ? "" : nameOf(call);
    if (!NAME_SERVICE.includes(name) && !observation.isBound(name))
      observation.doubt("socket", name.replace("\0", "@"));
    return;
  }
  const address = addressIn(call.address);
  // Whoever looks up a name connects to port 0 of each of its addresses, to choose one.
  observation.doubt("network", `${programOf(call)}, ${address}`, address.endsWith(":0"));
}

function familyOf({ address }: UnusualCall): number | undefined {
  return address.length === 0 ? undefined : address[0]! | (address[1]! << 8);
}

/** Of a socket of this machine; one without a file has a name that begins with NUL. */
function nameOf({ address, path }: UnusualCall): string {
  return address[2] === 0 ? new TextDecoder().decode(address.subarray(2)) : path;
}

function programOf({ path, pid }: UnusualCall): string {
  return path === "" ? `process ${pid}` : path.replace(/^.*\//, "");
}

/** As people write it. */
function addressIn(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const family = view.getUint16(0, true);
  if (family === AF_INET && bytes.length >= 8) return `${bytes.slice(4, 8).join(".")}:${view.getUint16(2)}`;
  if (family !== AF_INET6 || bytes.length < 24) return `family ${family}`;
  const words = [0, 2, 4, 6, 8, 10, 12, 14].map((at) => view.getUint16(8 + at).toString(16));
  return `${new URL(`http://[${words.join(":")}]`).hostname}:${view.getUint16(2)}`;
}
