// What a script's calls mean: each is told to the observation, in the order in which the kernel told of them.
//
// Contract: what cannot be understood is a doubt, and so is a fault of rt's own.
import type { Trace } from "../../contract/tracing.ts";
import { look } from "../../path-state.ts";
import { type Architecture, AUDIT_ARCHITECTURES, type Call, CALLS, type PathArgument } from "./calls.ts";
import { type FollowedCall, Journal } from "./journal.ts";
import { Observation } from "./observation.ts";

const architecture = process.arch as Architecture;

const O_ACCMODE = 3;
const [O_WRONLY, O_RDWR] = [1, 2];
const [O_CREAT, O_EXCL, O_TRUNC] = [0o100, 0o200, 0o1000];
const O_PATH = 0o10000000;
/** These two differ. */
const O_DIRECTORY = architecture === "arm64" ? 0o40000 : 0o200000;
const O_NOFOLLOW = architecture === "arm64" ? 0o100000 : 0o400000;
const O_TMPFILE = 0o20000000;
const RESOLVE_IN_ROOT = 0x10;
const RENAME_EXCHANGE = 2;
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
/** Asked by libc for users and hosts, of which it then knows no more than the files say. */
const NAME_SERVICE = ["/var/run/nscd/socket", "/run/nscd/socket"];

const byNumber = new Map<number, Call>();
for (const call of CALLS) if (call[architecture] >= 0) byNumber.set(call[architecture], call);

export class FollowedCalls {
  readonly journal = new Journal((call) => this.#noteSafely(call));
  readonly #observation = new Observation(this.journal);
  /** Where all of them are asked for. */
  readonly #calls: string[] | undefined;
  #steps = 0;

  constructor({ keepsCalls }: { readonly keepsCalls: boolean }) {
    this.#calls = keepsCalls ? [] : undefined;
  }

  /** The next step of the script comes. */
  begin(): void {
    this.#steps += 1;
    this.journal.begin();
  }

  /** A fault of rt's own: what was seen is not all. */
  fail(detail: string): void {
    this.#observation.doubt("supervisor", detail);
  }

  finish(): Trace {
    // The thread looks at all that it has seen once more, which is nothing of an earlier step.
    return {
      ...this.#observation.finish(this.#steps === 1 ? this.journal.look : look),
      ...(this.#calls && { calls: this.#calls }),
    };
  }

  #noteSafely(call: FollowedCall): void {
    try {
      this.#note(call);
    } catch (error) {
      this.fail((error as Error).message);
    }
  }

  #note(call: FollowedCall): void {
    const observation = this.#observation;
    if (call.architecture !== AUDIT_ARCHITECTURES[architecture]) return observation.doubt("foreign-call", "");
    const row = byNumber.get(call.number);
    if (!row) return observation.doubt("foreign-call", String(call.number));
    if (row.doubt) return observation.doubt(row.doubt, row.name);
    if (row.special === "rename") return this.#noteRename(call, row);
    if (row.special === "socket") return this.#noteSocket(call);
    if (row.special) return this.#noteAddress(call, row.special);
    if (row.open) return this.#noteOpen(call, row.open);
    for (const [index, argument] of row.paths!.entries()) {
      const path = this.#pathOf(call, index);
      if (path !== undefined) {
        this.#keep(argument.access, path, call.pid);
        observation.access(argument.access, path, followsIn(call, argument), call.pid);
      } else if (argument.access === "run" && argument.directory !== undefined)
        observation.doubt("descriptor-program", `process ${call.pid}`);
    }
  }

  /** Absolute, or undefined where there is nothing to be found. */
  #pathOf({ paths, pid }: FollowedCall, index: number): string | undefined {
    const found = paths[index]!;
    if (found === "nothing") return undefined;
    if (found === "denied") this.#observation.doubt("memory", `process ${pid}`);
    else if (typeof found === "string") return found;
    else this.#observation.doubt("name", new TextDecoder().decode(found));
    return undefined;
  }

  #openFlags(call: FollowedCall, { flags, always }: NonNullable<Call["open"]>): number | undefined {
    if (always !== undefined) return always;
    if (flags !== undefined) return call.args[flags]!;
    if (typeof call.extra === "string") {
      if (call.extra === "denied") this.#observation.doubt("memory", `process ${call.pid}`);
      return undefined;
    }
    const view = new DataView(call.extra.buffer, call.extra.byteOffset);
    if ((view.getUint32(16, true) & RESOLVE_IN_ROOT) !== 0) this.#observation.doubt("mount", "openat2");
    return view.getUint32(0, true);
  }

  #noteOpen(call: FollowedCall, open: NonNullable<Call["open"]>): void {
    const observation = this.#observation;
    const { pid } = call;
    const flags = this.#openFlags(call, open);
    const path = flags === undefined ? undefined : this.#pathOf(call, 0);
    if (flags === undefined || path === undefined) return;
    const follows = (flags & O_NOFOLLOW) === 0 && (flags & (O_CREAT | O_EXCL)) !== (O_CREAT | O_EXCL);
    const mode = flags & O_ACCMODE;
    this.#keep("open", path, pid);
    if ((flags & (O_PATH | O_DIRECTORY | O_TMPFILE)) !== 0)
      return observation.access("probe", path, follows, pid);
    if (mode === 0 && (flags & (O_TRUNC | O_CREAT)) === 0) return observation.read(path, follows, pid);
    if ((flags & O_TRUNC) === 0 && mode !== O_WRONLY) observation.read(path, follows, pid);
    if ((flags & (O_CREAT | O_EXCL)) === (O_CREAT | O_EXCL))
      return observation.access("create", path, follows, pid);
    if ((flags & O_TRUNC) !== 0)
      return observation.access(flags & O_CREAT ? "replace" : "truncate", path, follows, pid);
    if (mode === O_WRONLY || mode === O_RDWR || flags & O_CREAT)
      observation.access(flags & O_CREAT ? "append" : "modify", path, follows, pid);
  }

  #noteRename(call: FollowedCall, row: Call): void {
    const [from, to] = [this.#pathOf(call, 0), this.#pathOf(call, 1)];
    if (from === undefined || to === undefined) return;
    this.#keep("rename", from, call.pid);
    this.#keep("rename", to, call.pid);
    if (row.name === "renameat2" && (call.args[4]! & RENAME_EXCHANGE) !== 0)
      this.#observation.doubt("moved", from);
    this.#observation.move(from, to, call.pid);
  }

  #noteSocket({ args, pid }: FollowedCall): void {
    if (args[0] === AF_UNIX) this.#observation.doubt("socket", "");
    else this.#observation.doubt("network", `${this.#programOf(pid)}, datagrams`, true);
  }

  #noteAddress(call: FollowedCall, kind: "connect" | "bind"): void {
    const observation = this.#observation;
    const { extra, pid } = call;
    const isBind = kind === "bind";
    if (extra === "denied") return observation.doubt("memory", `process ${pid}`);
    if (extra === "nothing") return isBind ? undefined : observation.doubt("socket", "");
    const family = extra[0]! | (extra[1]! << 8);
    if (family !== AF_UNIX) return isBind ? undefined : this.#noteNetwork(pid, addressIn(extra));
    if (extra[2] === 0) {
      // Those without a file have names that begin with NUL.
      const name = new TextDecoder().decode(extra.subarray(2));
      if (isBind) observation.bind(name);
      else if (!observation.isBound(name)) observation.doubt("socket", name.replace("\0", "@"));
      return;
    }
    const path = this.#pathOf(call, 0);
    if (path === undefined) return isBind ? undefined : observation.doubt("socket", "");
    if (isBind) observation.bind(path);
    observation.access(isBind ? "create" : "probe", path, !isBind, pid);
    if (!isBind && !NAME_SERVICE.includes(path) && !observation.isBound(path))
      observation.doubt("socket", path);
  }

  /** Whoever looks up a name connects to port 0 of each of its addresses, to choose one. */
  #noteNetwork(pid: number, address: string): void {
    this.#observation.doubt("network", `${this.#programOf(pid)}, ${address}`, address.endsWith(":0"));
  }

  #programOf(pid: number): string {
    return this.journal.readLink(`/proc/${pid}/exe`)?.replace(/^.*\//, "") ?? `process ${pid}`;
  }

  #keep(kind: string, path: string, pid: number): void {
    this.#calls?.push(`${pid} ${kind} ${path}`);
  }
}

function followsIn(call: FollowedCall, { follows }: PathArgument): boolean {
  if (typeof follows === "boolean") return follows;
  const isSet = (call.args[follows.argument]! & follows.bit) !== 0;
  return isSet === follows.ifSet;
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
