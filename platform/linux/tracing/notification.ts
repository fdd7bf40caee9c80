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
const PAGE = 4096;
const CHUNK = 256;
const LONGEST_PATH = 4096;

// Each over an ArrayBuffer of its own, as descriptor-message.ts says, so that its address stays. Words of 32 bits: the engine
// makes an object of a number of 64, and each call has seven of them.
const notice = new Uint32Array(new ArrayBuffer(80));
const noticeAddress = ptr(notice);
const answer = new Uint32Array(new ArrayBuffer(24));
const answerAddress = ptr(answer);
const memory = new Uint8Array(new ArrayBuffer(LONGEST_PATH));
const memoryAddress = Number(ptr(memory));
const vectors = new Uint32Array(new ArrayBuffer(32));
const [ourVector, theirVector] = [ptr(vectors), (Number(ptr(vectors)) + 16) as Pointer];
const polled = new Uint32Array(new ArrayBuffer(16));
const polledAddress = ptr(polled);
const WORD = 2 ** 32;

/** Words of `struct seccomp_notif`. */
const [ID, PID, NUMBER, ARCHITECTURE, ARGUMENTS] = [0, 2, 4, 5, 8];

export interface Notification {
  /** Of the thread. */
  readonly pid: number;
  readonly number: number;
  readonly architecture: number;
  /** The low half of each argument: all of it, unless it is an address. */
  readonly args: readonly number[];
}

export function prepareListener(listener: number): void {
  libc().functions.ioctl(listener, SET_FLAGS, SYNC_WAKE_UP as Pointer); // the flags themselves, not where they are
}

/** What there is to do: a call waits, nobody is left who could make one, or the other descriptor can be read. */
export function awaitCall(listener: number, other: number): "call" | "over" | "other" {
  const { poll } = libc().functions;
  for (;;) {
    polled[0] = listener;
    polled[1] = POLLIN;
    polled[2] = other;
    polled[3] = POLLIN;
    if (poll(polledAddress, 2, -1) < 0) continue;
    const events = polled[1]! >>> 16;
    if (events & POLLIN) return "call";
    if (events !== 0) return "over";
    if (polled[3]! >>> 16 !== 0) return "other";
  }
}

/** Null when the call has been interrupted meanwhile. What is given is good until the next call is received. */
export function receiveCall(listener: number): Notification | null {
  notice.fill(0);
  if (libc().functions.ioctl(listener, RECEIVE, noticeAddress) !== 0) {
    const error = libc().errno();
    if (error === EINTR || error === ENOENT) return null;
    throw new Error(`the kernel's notifications cannot be read (${error})`);
  }
  return {
    pid: notice[PID]! | 0, // a whole number to foreign functions too, as ffi.ts says
    number: notice[NUMBER]! | 0,
    architecture: notice[ARCHITECTURE]!,
    args: [notice[8]!, notice[10]!, notice[12]!, notice[14]!, notice[16]!, notice[18]!],
  };
}

/** A call that was interrupted comes again: what the kernel says of its answer does not matter. */
export function letGoOn(listener: number): void {
  answer[0] = notice[ID]!;
  answer[1] = notice[ID + 1]!;
  answer[5] = CONTINUE;
  libc().functions.ioctl(listener, SEND, answerAddress);
}

/** "denied" where this process may not look at that one; "nothing" where the call itself will fail. */
export type Unread = "denied" | "nothing";

function setVector(at: number, low: number, high: number, size: number): void {
  vectors[at] = low; // what is above 32 bits is cut off
  vectors[at + 1] = low < WORD ? high : high + 1;
  vectors[at + 2] = size;
}

/** From where an argument of the call points to; -1 where it cannot be read. */
function copy({ pid }: Notification, argument: number, offset: number, size: number): number {
  const our = memoryAddress + offset;
  setVector(0, our % WORD, Math.floor(our / WORD), size);
  setVector(4, notice[ARGUMENTS + argument * 2]! + offset, notice[ARGUMENTS + argument * 2 + 1]!, size);
  return Number(libc().functions.process_vm_readv(pid, ourVector, 1, theirVector, 1, 0));
}

/** So many bytes of what an argument points to; valid until the next call. */
export function readMemory(call: Notification, argument: number, size: number): Uint8Array | Unread {
  if (call.pid === 0) return "denied";
  const count = copy(call, argument, 0, size);
  if (count === size) return memory.subarray(0, size);
  return count < 0 && libc().errno() !== EFAULT ? "denied" : "nothing";
}

/** The bytes of the C string that an argument points to, without the NUL; valid until the next call. */
export function readText(call: Notification, argument: number): Uint8Array | Unread {
  if (call.pid === 0) return "denied";
  let length = 0;
  while (length < LONGEST_PATH) {
    const toPageEnd = PAGE - ((call.args[argument]! + length) % PAGE);
    const size = Math.min(CHUNK, toPageEnd, LONGEST_PATH - length);
    const count = copy(call, argument, length, size);
    if (count < 0) return libc().errno() === EFAULT ? "nothing" : "denied";
    if (count === 0) return "nothing";
    const end = memory.indexOf(0, length); // behind what was copied are bytes of an earlier one
    if (end >= 0 && end < length + count) return memory.subarray(0, end);
    length += count;
  }
  return "nothing"; // longer than a path may be: the call fails
}

/** For what was left behind: every call goes on, none is looked at. */
export function answerOnly(listener: number): void {
  while (awaitCall(listener, -1) === "call") {
    if (receiveCall(listener)) letGoOn(listener);
  }
}

export function closeListener(listener: number): void {
  libc().functions.close(listener);
}
