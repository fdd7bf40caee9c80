// Children whose whole family can be ended, on Linux and macOS.
//
// Contract: a child with piped output leads a session of its own, so one signal reaches what it started, and
// members of its tree that moved to another group are found through the process table. Output comes through
// real pipes (the engine's own are sockets, on which a script's `> /dev/stderr` fails). If rt dies without a
// word, a guardian, one idle `sh`, sees its pipe close and kills what is left.
//
// Surprising: most scripts live only for a millisecond or two, so for the first `ATTACH_AFTER` nothing
// listens: what such a script wrote waits in the pipe and is read when it has exited. Only those that live
// longer get a stream and are reported to the guardian. A process that a script left in the background may
// hold the pipe open for ever: after the script's exit it is heard for `LINGER` more, then not any longer.
import { FFIType, ptr } from "bun:ffi";
import {
  type Child,
  type ChildExit,
  describeExit,
  type ProcessTreeOperations,
} from "../process-tree-operations.ts";
import { openLibc } from "./libc.ts";
import { listProcesses, selectTrees } from "./process-table.ts";
import { guard, release } from "./guardian.ts";

const ATTACH_AFTER = 2; // ms
const LINGER = 100; // ms
const READ_SIZE = 1 << 17;
const IS_LINUX = process.platform === "linux";
const O_NONBLOCK = IS_LINUX ? 0o4000 : 4;
const F_SETFD = 2;
const F_SETFL = 4;
const F_SETPIPE_SZ = 1031; // Linux: what a script writes in its first milliseconds should fit
const PIPE_SIZE = 1 << 18;
const RLIMIT_NOFILE = IS_LINUX ? 7 : 8;
/** Per child: our end of the pipe, the stream's, and the engine's handle of the process. */
const DESCRIPTORS_PER_CHILD = 5;
const DESCRIPTORS_RESERVED = 48;

const { functions: libc } = openLibc({
  pipe: { args: [FFIType.ptr], returns: FFIType.i32 },
  fcntl: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
  read: { args: [FFIType.i32, FFIType.ptr, FFIType.u64], returns: FFIType.i64_fast },
  close: { args: [FFIType.i32], returns: FFIType.i32 },
  getrlimit: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.i32 },
});

const pair = new Int32Array(2);
const pairPointer = ptr(pair);
// Read into and handed out within one call: `onOutput` must have used the bytes when it returns.
const buffer = new Uint8Array(READ_SIZE);
const bufferPointer = ptr(buffer);

function openPipe(): { reader: number; writer: number } {
  if (libc.pipe(pairPointer) !== 0) throw Object.assign(new Error("Too many open files"), { code: "EMFILE" });
  const [reader = -1, writer = -1] = pair;
  libc.fcntl(reader, F_SETFD, 1);
  libc.fcntl(writer, F_SETFD, 1);
  libc.fcntl(reader, F_SETFL, O_NONBLOCK);
  if (IS_LINUX) libc.fcntl(reader, F_SETPIPE_SZ, PIPE_SIZE);
  return { reader, writer };
}

/** Our end of one pipe: first silent, then read as a stream or, after the exit, in one go. */
class Outlet {
  readonly #descriptor: number;
  readonly #deliver: (bytes: Uint8Array) => void | Promise<void>;
  #stream: Promise<void> | undefined;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;

  constructor(descriptor: number, deliver: (bytes: Uint8Array) => void | Promise<void>) {
    this.#descriptor = descriptor;
    this.#deliver = deliver;
  }

  attach(): void {
    this.#stream = this.#pump();
  }

  /** The child has exited: delivers the rest. */
  async finish(): Promise<void> {
    if (!this.#stream) {
      const isAtEnd = await this.#drain();
      if (!isAtEnd) this.attach();
    }
    if (this.#stream) {
      const lingering = setTimeout(() => void this.#reader?.cancel().catch(() => {}), LINGER);
      await this.#stream;
      clearTimeout(lingering);
    }
    libc.close(this.#descriptor);
  }

  async #drain(): Promise<boolean> {
    for (;;) {
      const count = Number(libc.read(this.#descriptor, bufferPointer, READ_SIZE));
      if (count <= 0) return count === 0;
      const pending = this.#deliver(buffer.subarray(0, count));
      if (pending) await pending;
    }
  }

  async #pump(): Promise<void> {
    this.#reader = Bun.file(this.#descriptor).stream().getReader();
    try {
      for (;;) {
        const { done, value } = await this.#reader.read();
        if (done) return;
        const pending = this.#deliver(value);
        if (pending) await pending;
      }
    } catch {
      // A pipe that cannot be read any more has nothing more to say.
    }
  }
}

interface PosixChild extends Child {
  readonly ownsSession: boolean;
}

export const startChild: ProcessTreeOperations["startChild"] = (request): PosixChild => {
  const isPiped = request.output !== "inherit";
  const pipes = isPiped ? [openPipe()] : [];
  let subprocess: Bun.Subprocess;
  try {
    if (request.output === "separate") pipes.push(openPipe());
    subprocess = Bun.spawn(request.argv as string[], {
      cwd: request.cwd,
      env: request.env as Record<string, string>,
      stdin: request.inheritStdin ? "inherit" : "ignore",
      stdout: pipes[0]?.writer ?? "inherit",
      stderr: pipes.at(-1)?.writer ?? "inherit",
      detached: isPiped,
    });
  } catch (error) {
    for (const { reader } of pipes) libc.close(reader);
    throw error;
  } finally {
    for (const { writer } of pipes) libc.close(writer);
  }
  const outlets = pipes.map(
    ({ reader }, index) => new Outlet(reader, (bytes) => request.onOutput(bytes, index === 1)),
  );
  return { pid: subprocess.pid, ownsSession: isPiped, done: follow(subprocess, outlets) };
};

async function follow(subprocess: Bun.Subprocess, outlets: readonly Outlet[]): Promise<ChildExit> {
  let isGuarded = false;
  const attaching = setTimeout(() => {
    for (const outlet of outlets) outlet.attach();
    guard(subprocess.pid);
    isGuarded = true;
  }, ATTACH_AFTER);
  await subprocess.exited;
  clearTimeout(attaching);
  if (isGuarded) release(subprocess.pid);
  for (const outlet of outlets) await outlet.finish();
  return describeExit(subprocess);
}

export const signalTrees: ProcessTreeOperations["signalTrees"] = (children, signal) => {
  const processes = listProcesses();
  const roots = (children as readonly PosixChild[]).map(({ pid, ownsSession }) => ({ pid, ownsSession }));
  // Another rt in the tree passes on what it gets; its children would otherwise hear everything twice.
  const members = selectTrees(processes, roots, signal === "SIGKILL" ? null : process.execPath);
  for (const { pid, ownsSession } of roots) if (ownsSession) send(-pid, signal);
  const inLeadGroups = new Set(roots.flatMap(({ pid, ownsSession }) => (ownsSession ? [pid] : [])));
  for (const { pid, group } of members) if (!inLeadGroups.has(group)) send(pid, signal);
};

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended meanwhile, which is what was wanted.
  }
}

export const hasSurvivors: ProcessTreeOperations["hasSurvivors"] = (children) =>
  selectTrees(listProcesses(), children as readonly PosixChild[], null).length > 0;

export const childLimit: ProcessTreeOperations["childLimit"] = () => {
  const limits = new BigUint64Array(2);
  if (libc.getrlimit(RLIMIT_NOFILE, ptr(limits)) !== 0) return 64;
  const available = Number(limits[0]) - DESCRIPTORS_RESERVED;
  return Math.max(1, Math.floor(available / DESCRIPTORS_PER_CHILD));
};

export const terminalSignalsInherited = true;
