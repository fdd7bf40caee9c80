// The thread that answers the kernel: it is told of every call of the table before the call runs, notes the path, and lets
// it go on. The build makes a script of its own of this module, for a worker, which serves one script after the other.
//
// Contract: a call is always answered, and at once; what cannot be understood is a doubt. When nobody is left who could
// make a call the record is complete. When the other end of `stop` is closed before that, somebody has outlived the
// command: the listener is left open, for a program that goes on answering.
import type { Trace } from "../../contract/tracing.ts";
import { type Architecture, AUDIT_ARCHITECTURES, type Call, CALLS, type PathArgument } from "./calls.ts";
import { receiveDescriptor, socketCalls, writeByte } from "./descriptor-message.ts";
import {
  awaitCall,
  closeListener,
  letGoOn,
  type Notification,
  prepareListener,
  readMemory,
  readText,
  receiveCall,
} from "./notification.ts";
import { Observation } from "./observation.ts";

export type Order =
  | { readonly serve: { readonly socket: number; readonly stop: number }; readonly keepsCalls: boolean }
  | { readonly finish: true };

export type Report =
  /** 0 when it was followed; otherwise why not. */
  | { readonly launched: number }
  /** The listener, where somebody is left. */
  | { readonly over: { readonly listener: number | null } }
  /** As JSON, which costs less than a copy of thousands of objects. */
  | { readonly trace: string };

const fs = process.getBuiltinModule("node:fs");
const decoder = new TextDecoder("utf-8", { fatal: true });
/** Of the script that runs; when it is finished, of the next one. */
let observation = new Observation();
let calls: string[] = [];
let isKeeping = false;

const architecture = process.arch as Architecture;
const byNumber = new Map<number, Call>();
for (const call of CALLS) if (call[architecture] >= 0) byNumber.set(call[architecture], call);

const O_ACCMODE = 3;
const [O_WRONLY, O_RDWR] = [1, 2];
const [O_CREAT, O_EXCL, O_TRUNC] = [0o100, 0o200, 0o1000];
const O_PATH = 0o10000000;
/** These two differ. */
const O_DIRECTORY = architecture === "arm64" ? 0o40000 : 0o200000;
const O_NOFOLLOW = architecture === "arm64" ? 0o100000 : 0o400000;
const O_TMPFILE = 0o20000000;
const AT_FDCWD = -100;
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
/** Asked by libc for users and hosts, of which it then knows no more than the files say. */
const NAME_SERVICE = ["/var/run/nscd/socket", "/run/nscd/socket"];

/** Undefined where the call fails by itself, or a doubt has been noted. */
function textAt(call: Notification, argument: number): string | undefined {
  const bytes = readText(call, argument);
  if (bytes === "nothing") return undefined;
  if (bytes === "denied") {
    observation.doubt("memory", `process ${call.pid}`);
    return undefined;
  }
  try {
    return decoder.decode(bytes);
  } catch {
    observation.doubt("name", new TextDecoder().decode(bytes));
    return undefined;
  }
}

function directoryOf(pid: number, descriptor: number): string | undefined {
  const link = descriptor === AT_FDCWD ? "cwd" : `fd/${descriptor}`;
  let target: string;
  try {
    target = fs.readlinkSync(`/proc/${pid}/${link}`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT") observation.doubt("memory", `process ${pid}`);
    return undefined;
  }
  // Nothing can be found in a directory that is not there any more.
  return target.startsWith("/") && !target.endsWith(" (deleted)") ? target : undefined;
}

/** Absolute, or undefined where there is nothing to be found. */
function pathOf(call: Notification, { directory, path }: PathArgument): string | undefined {
  const descriptor = directory === undefined ? AT_FDCWD : call.args[directory]! | 0;
  if (path === undefined) return directoryOf(call.pid, descriptor);
  const text = textAt(call, path);
  // An empty one means the descriptor itself, which an earlier call has opened.
  if (text === undefined || text === "") return undefined;
  if (text.startsWith("/")) return text;
  const base = directoryOf(call.pid, descriptor);
  return base === undefined ? undefined : `${base === "/" ? "" : base}/${text}`;
}

function followsIn(call: Notification, { follows }: PathArgument): boolean {
  if (typeof follows === "boolean") return follows;
  const isSet = (call.args[follows.argument]! & follows.bit) !== 0;
  return isSet === follows.ifSet;
}

function openFlags(
  call: Notification,
  { flags, how, always }: NonNullable<Call["open"]>,
): number | undefined {
  if (always !== undefined) return always;
  if (flags !== undefined) return call.args[flags]!;
  const bytes = readMemory(call, how!, 24);
  if (typeof bytes === "string") {
    if (bytes === "denied") observation.doubt("memory", `process ${call.pid}`);
    return undefined;
  }
  const view = new DataView(bytes.slice().buffer);
  const RESOLVE_IN_ROOT = 0x10;
  if ((view.getUint32(16, true) & RESOLVE_IN_ROOT) !== 0) observation.doubt("mount", "openat2");
  return view.getUint32(0, true);
}

function noteOpen(call: Notification, row: Call): void {
  const argument = row.paths![0]!;
  const flags = openFlags(call, row.open!);
  const path = flags === undefined ? undefined : pathOf(call, argument);
  if (flags === undefined || path === undefined) return;
  const follows = (flags & O_NOFOLLOW) === 0 && (flags & (O_CREAT | O_EXCL)) !== (O_CREAT | O_EXCL);
  const mode = flags & O_ACCMODE;
  keep("open", path, call.pid);
  if ((flags & (O_PATH | O_DIRECTORY | O_TMPFILE)) !== 0)
    return observation.access("probe", path, follows, call.pid);
  if (mode === 0 && (flags & (O_TRUNC | O_CREAT)) === 0) return observation.read(path, follows, call.pid);
  if ((flags & O_TRUNC) === 0 && mode !== O_WRONLY) observation.read(path, follows, call.pid);
  if ((flags & (O_CREAT | O_EXCL)) === (O_CREAT | O_EXCL))
    return observation.access("create", path, follows, call.pid);
  if ((flags & O_TRUNC) !== 0)
    return observation.access(flags & O_CREAT ? "replace" : "truncate", path, follows, call.pid);
  if (mode === O_WRONLY || mode === O_RDWR || flags & O_CREAT)
    observation.access(flags & O_CREAT ? "append" : "modify", path, follows, call.pid);
}

function noteRename(call: Notification, row: Call): void {
  const [from, to] = row.paths!.map((argument) => pathOf(call, argument));
  if (from === undefined || to === undefined) return;
  keep("rename", from, call.pid);
  keep("rename", to, call.pid);
  const RENAME_EXCHANGE = 2;
  if (row.name === "renameat2" && (call.args[4]! & RENAME_EXCHANGE) !== 0) observation.doubt("moved", from);
  observation.move(from, to, call.pid);
}

/** Whoever looks up a name connects to port 0 of each of its addresses, to choose one. */
function noteNetwork(pid: number, address: string): void {
  observation.doubt("network", `${programOf(pid)}, ${address}`, address.endsWith(":0"));
}

function programOf(pid: number): string {
  try {
    return fs.readlinkSync(`/proc/${pid}/exe`).replace(/^.*\//, "");
  } catch {
    return `process ${pid}`;
  }
}

/** As people write it. */
function addressIn(bytes: Uint8Array): string {
  const view = new DataView(bytes.slice().buffer);
  const family = view.getUint16(0, true);
  if (family === AF_INET && bytes.length >= 8) return `${bytes.slice(4, 8).join(".")}:${view.getUint16(2)}`;
  if (family !== AF_INET6 || bytes.length < 24) return `family ${family}`;
  const words = [0, 2, 4, 6, 8, 10, 12, 14].map((at) => view.getUint16(8 + at).toString(16));
  return `${new URL(`http://[${words.join(":")}]`).hostname}:${view.getUint16(2)}`;
}

/** The path of a Unix socket, or undefined with a doubt. */
function noteSocket(call: Notification, row: Call): void {
  if (row.special === "socket")
    return call.args[0] === AF_UNIX
      ? observation.doubt("socket", "")
      : observation.doubt("network", `${programOf(call.pid)}, datagrams`, true);
  const size = Math.min(call.args[2]! & 0xffff, 110);
  const bytes = size < 3 ? "nothing" : readMemory(call, 1, size);
  if (bytes === "denied") return observation.doubt("memory", `process ${call.pid}`);
  const isBind = row.special === "bind";
  if (bytes === "nothing") return isBind ? undefined : observation.doubt("socket", "");
  const family = bytes[0]! | (bytes[1]! << 8);
  const name = new TextDecoder().decode(bytes.subarray(2));
  const text = name.startsWith("\0") ? name : name.replace(/\0.*$/s, "");
  if (family !== AF_UNIX) return isBind ? undefined : noteNetwork(call.pid, addressIn(bytes));
  // Those without a file have names that begin with NUL.
  const base =
    text.startsWith("/") || text.startsWith("\0") ? "" : `${directoryOf(call.pid, AT_FDCWD) ?? ""}/`;
  const path = base + text;
  if (isBind) {
    observation.bind(path);
    if (!text.startsWith("\0")) observation.access("create", path, false, call.pid);
    return;
  }
  if (!text.startsWith("\0")) observation.access("probe", path, true, call.pid);
  if (!NAME_SERVICE.includes(path) && !observation.isBound(path))
    observation.doubt("socket", text.replace("\0", "@"));
}

function noteRun(call: Notification, argument: PathArgument): void {
  const path = pathOf(call, argument);
  if (path !== undefined) {
    keep("run", path, call.pid);
    return observation.access("run", path, followsIn(call, argument), call.pid);
  }
  if (argument.directory !== undefined) observation.doubt("descriptor-program", `process ${call.pid}`);
}

function note(call: Notification): void {
  if (call.architecture !== AUDIT_ARCHITECTURES[architecture]) return observation.doubt("foreign-call", "");
  const row = byNumber.get(call.number);
  if (!row) return observation.doubt("foreign-call", String(call.number));
  if (row.doubt) return observation.doubt(row.doubt, row.name);
  if (row.special === "rename") return noteRename(call, row);
  if (row.special) return noteSocket(call, row);
  if (row.open) return noteOpen(call, row);
  for (const argument of row.paths!) {
    if (argument.access === "run") return noteRun(call, argument);
    const path = pathOf(call, argument);
    if (path === undefined) continue;
    keep(argument.access, path, call.pid);
    observation.access(argument.access, path, followsIn(call, argument), call.pid);
  }
}

function keep(kind: string, path: string, pid: number): void {
  if (isKeeping) calls.push(`${pid} ${kind} ${path}`);
}

/** A fault of ours must not stop the tree. */
function noteSafely(call: Notification): void {
  try {
    note(call);
  } catch (error) {
    observation.doubt("supervisor", (error as Error).message);
  }
}

function serve(listener: number, stop: number): number | null {
  try {
    return answerCalls(listener, stop);
  } catch (error) {
    // Nobody may be left waiting.
    observation.doubt("supervisor", (error as Error).message);
    return listener;
  }
}

function answerCalls(listener: number, stop: number): number | null {
  prepareListener(listener);
  for (;;) {
    const next = awaitCall(listener, stop);
    if (next === "over") break;
    if (next === "other") return listener;
    const call = receiveCall(listener);
    if (!call) continue;
    noteSafely(call);
    letGoOn(listener);
  }
  closeListener(listener);
  return null;
}

const scope = globalThis as unknown as {
  onmessage: (event: { data: Order }) => void;
  postMessage(report: Report): void;
};

scope.onmessage = ({ data }) => {
  if ("finish" in data) {
    const trace: Trace = { ...observation.finish(), ...(isKeeping && { calls }) };
    scope.postMessage({ trace: JSON.stringify(trace) });
    [observation, calls] = [new Observation(), []];
    return;
  }
  isKeeping = data.keepsCalls;
  const { socket, stop } = data.serve;
  const received = receiveDescriptor(socket);
  const isTaken = received !== null && received.byte === 0 && received.descriptor >= 0;
  scope.postMessage({ launched: isTaken ? 0 : received?.byte || -1 });
  if (isTaken) writeByte(socket);
  socketCalls().close(socket);
  if (isTaken) scope.postMessage({ over: { listener: serve(received.descriptor, stop) } });
};
