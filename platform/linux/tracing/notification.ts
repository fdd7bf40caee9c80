// What the kernel tells of a call before it runs, the memory that the call points to, and the answer, which is always
// that it may go on.
import type { Pointer } from "bun:ffi";
import { FFIType, ptr } from "../../posix/ffi.ts";
import { type Libc, openLibc } from "../../posix/libc.ts";

const { i32, i64_fast, ptr: pointer, u64 } = FFIType;

const SYMBOLS = {
  close: { args: [i32], returns: i32 },
  ioctl: { args: [i32, u64, pointer], returns: i32 },
  poll: { args: [pointer, u64, i32], returns: i32 },
  process_vm_readv: { args: [i32, pointer, u64, pointer, u64, u64], returns: i64_fast },
} as const;

let opened: Libc<typeof SYMBOLS> | undefined;
const libc = () => (opened ??= openLibc(SYMBOLS));

const RECEIVE = 0xc0502100;
const SEND = 0xc0182101;
const SET_FLAGS = 0x40082104;
/** From Linux 6.6 on: each runs on the processor of the one that it waits for; otherwise a call may take ten times as long. */
const SYNC_WAKE_UP = 1;
const CONTINUE = 1;
const EFAULT = 14;
const EINTR = 4;
const ENOENT = 2;

const POLLIN = 1;
const POLLHUP = 16;
const PAGE = 4096;
const CHUNK = 256;
const LONGEST_PATH = 4096;

// Each its own ArrayBuffer, as descriptor-message.ts says.
const noticeBuffer = new ArrayBuffer(80);
const noticeBytes = new Uint8Array(noticeBuffer);
const notice = new DataView(noticeBuffer);
const answerBuffer = new ArrayBuffer(24);
const answerBytes = new Uint8Array(answerBuffer);
const answer = new DataView(answerBuffer);
const memoryBuffer = new ArrayBuffer(LONGEST_PATH);
const memory = new Uint8Array(memoryBuffer);
const vectorsBuffer = new ArrayBuffer(32);
const vectorBytes = new Uint8Array(vectorsBuffer);
const vectors = new DataView(vectorsBuffer);
const pollBuffer = new ArrayBuffer(16);
const pollBytes = new Uint8Array(pollBuffer);
const polled = new DataView(pollBuffer);

export interface Notification {
  readonly id: bigint;
  /** Of the thread. */
  readonly pid: number;
  readonly number: number;
  readonly architecture: number;
  readonly args: readonly [bigint, bigint, bigint, bigint, bigint, bigint];
}

export function prepareListener(listener: number): void {
  libc().functions.ioctl(listener, SET_FLAGS, SYNC_WAKE_UP as Pointer); // the flags themselves, not where they are
}

/** What there is to do: a call waits, nobody is left who could make one, or the other descriptor can be read. */
export function awaitCall(listener: number, other: number): "call" | "over" | "other" {
  for (;;) {
    polled.setInt32(0, listener, true);
    polled.setUint32(4, POLLIN, true);
    polled.setInt32(8, other, true);
    polled.setUint32(12, POLLIN, true);
    if (libc().functions.poll(ptr(pollBytes), 2, -1) < 0) continue;
    const events = polled.getUint16(6, true);
    if (events & POLLIN) return "call";
    if (events & POLLHUP) return "over";
    if (events !== 0) return "over";
    if (polled.getUint16(14, true) !== 0) return "other";
  }
}

/** Null when the call has been interrupted meanwhile. */
export function receiveCall(listener: number): Notification | null {
  noticeBytes.fill(0);
  if (libc().functions.ioctl(listener, RECEIVE, ptr(noticeBytes)) !== 0) {
    const error = libc().errno();
    if (error === EINTR || error === ENOENT) return null;
    throw new Error(`the kernel's notifications cannot be read (${error})`);
  }
  const argument = (index: number) => notice.getBigUint64(32 + index * 8, true);
  return {
    id: notice.getBigUint64(0, true),
    pid: notice.getUint32(8, true),
    number: notice.getInt32(16, true),
    architecture: notice.getUint32(20, true),
    args: [argument(0), argument(1), argument(2), argument(3), argument(4), argument(5)],
  };
}

/** A call that was interrupted comes again: what the kernel says of its answer does not matter. */
export function letGoOn({ id }: Notification): void {
  answer.setBigUint64(0, id, true);
  answer.setBigInt64(8, 0n, true);
  answer.setInt32(16, 0, true);
  answer.setUint32(20, CONTINUE, true);
}

export function sendAnswer(listener: number): void {
  libc().functions.ioctl(listener, SEND, ptr(answerBytes));
}

/** "denied" where this process may not look at that one; "nothing" where the call itself will fail. */
export type Unread = "denied" | "nothing";

function copy(pid: number, address: bigint, offset: number, size: number): number {
  vectors.setBigUint64(0, BigInt(ptr(memory)) + BigInt(offset), true);
  vectors.setBigUint64(8, BigInt(size), true);
  vectors.setBigUint64(16, address, true);
  vectors.setBigUint64(24, BigInt(size), true);
  const base = BigInt(ptr(vectorBytes));
  return Number(
    libc().functions.process_vm_readv(pid, Number(base) as never, 1, Number(base + 16n) as never, 1, 0),
  );
}

/** So many bytes of another process; valid until the next call. */
export function readMemory(pid: number, address: bigint, size: number): Uint8Array | Unread {
  if (pid === 0) return "denied";
  const count = copy(pid, address, 0, size);
  if (count === size) return memory.subarray(0, size);
  return count < 0 && libc().errno() !== EFAULT ? "denied" : "nothing";
}

/** The bytes of a C string, without the NUL; valid until the next call. */
export function readText(pid: number, address: bigint): Uint8Array | Unread {
  if (pid === 0) return "denied";
  let length = 0;
  while (length < LONGEST_PATH) {
    const toPageEnd = PAGE - Number((address + BigInt(length)) % BigInt(PAGE));
    const size = Math.min(CHUNK, toPageEnd, LONGEST_PATH - length);
    const count = copy(pid, address + BigInt(length), length, size);
    if (count < 0) return libc().errno() === EFAULT ? "nothing" : "denied";
    if (count === 0) return "nothing";
    const end = memory.subarray(length, length + count).indexOf(0);
    if (end >= 0) return memory.subarray(0, length + end);
    length += count;
  }
  return "nothing"; // longer than a path may be: the call fails
}

/** For what was left behind: every call goes on, none is looked at. */
export function answerOnly(listener: number): void {
  while (awaitCall(listener, -1) === "call") {
    const call = receiveCall(listener);
    if (!call) continue;
    letGoOn(call);
    sendAnswer(listener);
  }
}

export function closeListener(listener: number): void {
  libc().functions.close(listener);
}
