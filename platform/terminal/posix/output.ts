// Writes to standard output and error without blocking on a slow reader: rt must handle signals while `| less` waits for a key.
//
// Non-obvious: O_NONBLOCK belongs to the open file description, which other programs share, so it must not be set on descriptors 1
// and 2. Linux can reopen the same pipe or terminal through /proc with separate flags. On macOS a writable pipe takes PIPE_BUF bytes
// without blocking.
import { FFIType, ptr } from "../../native/posix/ffi.ts";
import type { OutputOperations } from "../contract/output.ts";
import { isSameFile } from "../../files/same-file.ts";
import { constants } from "../../native/posix/constants.ts";
import {
  encodeCString,
  lastErrorNumber,
  libc,
  openLibc,
  processLibc,
  repeat,
  VARIADIC,
} from "../../native/posix/libc.ts";

const { EAGAIN, O_CLOEXEC, O_NOCTTY, O_NONBLOCK, PIPE_BUF, TIOCGWINSZ } = constants;
const O_WRONLY = 1;
const SEEK_CUR = 1;
const POLLOUT = 4;
const EINTR = 4;
const EPIPE = 32;
const LONGEST_NAME = 4096;
const CODES: Readonly<Record<number, string>> = {
  5: "EIO",
  9: "EBADF",
  27: "EFBIG",
  28: "ENOSPC",
  [EPIPE]: "EPIPE",
};

const { i32, i64_fast, u64 } = FFIType;

interface Target {
  readonly descriptor: number;
  /** False if a write of more than PIPE_BUF bytes may block. */
  readonly isNonBlocking: boolean;
}

const targets: Partial<Record<1 | 2, Target>> = {};

function target(descriptor: 1 | 2): Target {
  return (targets[descriptor] ??= openTarget(descriptor));
}

function openTarget(descriptor: 1 | 2): Target {
  // A seekable file never blocks; on macOS terminals are seekable too.
  const { lseek } = openLibc({ lseek: { args: [i32, i64_fast, i32], returns: i64_fast } }).functions;
  if (Number(lseek(descriptor, 0, SEEK_CUR)) >= 0 && libc().isatty(descriptor) === 0)
    return { descriptor, isNonBlocking: true };
  if (process.platform === "linux") {
    const path = new TextEncoder().encode(`/proc/self/fd/${descriptor}\0`);
    const again = libc().open(ptr(path), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (again >= 0) return { descriptor: again, isNonBlocking: true };
  }
  return { descriptor, isNonBlocking: false };
}

// struct pollfd { int fd; short events; short revents; }
const pollEntry = new DataView(new ArrayBuffer(8));

/** Returns whether a write or an error is pending. */
function isReady(descriptor: number, milliseconds: number): boolean {
  pollEntry.setInt32(0, descriptor, true);
  pollEntry.setInt16(4, POLLOUT, true);
  return processLibc().poll(ptr(pollEntry), 1, milliseconds) > 0;
}

const writeSome: OutputOperations["writeSome"] = (descriptor, bytes) => {
  if (bytes.length === 0) return 0;
  const { descriptor: actual, isNonBlocking } = target(descriptor);
  if (!isNonBlocking && !isReady(actual, 0)) return 0;
  const length = isNonBlocking ? bytes.length : Math.min(bytes.length, PIPE_BUF);
  const count = Number(libc().write(actual, ptr(bytes), length));
  if (count >= 0) return count;
  const failure = lastErrorNumber();
  if (failure === EAGAIN || failure === EINTR) return 0;
  const code = CODES[failure] ?? `errno ${failure}`;
  throw Object.assign(
    new Error(`Cannot write to standard ${descriptor === 1 ? "output" : "error"}: ${code}`),
    { code },
  );
};

const awaitWritable: OutputOperations["awaitWritable"] = (descriptor, milliseconds) => {
  isReady(target(descriptor).descriptor, milliseconds);
};

/** Returns the name in /proc/self/fd; fstat through node:fs takes milliseconds to load. */
function nameOf(descriptor: 1 | 2): string {
  const name = new Uint8Array(LONGEST_NAME);
  const path = encodeCString(`/proc/self/fd/${descriptor}`);
  const length = Number(processLibc().readlink(ptr(path), ptr(name), name.length));
  return new TextDecoder("latin1").decode(name.subarray(0, Math.max(0, length)));
}

const areJoined: OutputOperations["areJoined"] = () => {
  if (process.platform === "linux") {
    const [output, error] = [nameOf(1), nameOf(2)];
    // Names of deleted files are not unique.
    if (output !== "" && error !== "" && !output.endsWith(" (deleted)")) return output === error;
  }
  return isSameFile(1, 2);
};

/** Opened on first use, because few runs need it. */
let opened:
  { ioctl(descriptor: number, request: number, ...value: ReturnType<typeof repeat>): number } | undefined;

const terminalSize: OutputOperations["terminalSize"] = () => {
  const size = new Uint16Array(4); // struct winsize: rows, columns, and pixels that are mostly 0
  opened ??= openLibc({ ioctl: { args: [i32, u64, ...VARIADIC], returns: i32 } }).functions;
  if (opened.ioctl(1, TIOCGWINSZ, ...repeat(ptr(size))) !== 0) return null;
  const [rows = 0, columns = 0] = size;
  return rows > 0 && columns > 0 ? { columns, rows } : null;
};

export const operations: OutputOperations = {
  writeSome,
  awaitWritable,
  areJoined,
  terminalSize,
};
