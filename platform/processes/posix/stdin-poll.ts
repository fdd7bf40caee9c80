// Checks whether standard input has data, without consuming it.
import { FFIType, ptr } from "../../native/posix/ffi.ts";
import { constants } from "../../native/posix/constants.ts";
import { openLibc, repeat, VARIADIC } from "../../native/posix/libc.ts";

const { i32, i64_fast, ptr: pointer, u64 } = FFIType;

const SYMBOLS = {
  lseek: { args: [i32, i64_fast, i32], returns: i64_fast },
  poll: { args: [pointer, u64, i32], returns: i32 },
  recv: { args: [i32, pointer, u64, i32], returns: i64_fast },
  ioctl: { args: [i32, u64, ...VARIADIC], returns: i32 },
} as const;

const TERMINAL_SYMBOLS = { tcflush: { args: [i32, i32], returns: i32 } } as const;

const SEEK_SET = 0;
const SEEK_CUR = 1;
const SEEK_END = 2;
const MSG_PEEK = 2;
const POLLIN = 1;
const POLLHUP = 0x10;
const FOREVER = -1;

/** Returns whether a read would not block: data, end of input, or an error. */
export function hasInput(): boolean {
  const asked = new Int32Array([0, POLLIN]);
  return openLibc(SYMBOLS).functions.poll(ptr(asked), 1, 0) > 0;
}

/** Discards unread terminal input; tcflush() fails on anything else, without effect. */
export function dropInput(): void {
  openLibc(TERMINAL_SYMBOLS).functions.tcflush(0, constants.TCIFLUSH);
}

/** Waits until a byte is available or all writers are closed. */
export function isInputEmpty(): boolean {
  const { lseek, poll, recv, ioctl } = openLibc(SYMBOLS).functions;
  const position = Number(lseek(0, 0, SEEK_CUR));
  if (position >= 0) {
    const end = Number(lseek(0, 0, SEEK_END));
    lseek(0, position, SEEK_SET);
    return end >= 0 && end <= position;
  }
  const waited = new Int32Array([0, POLLIN]); // struct pollfd: a descriptor, and two shorts in one word
  poll(ptr(waited), 1, FOREVER);
  const events = waited[1]! >>> 16;
  if ((events & POLLIN) === 0) return true; // a pipe without a writer, or a closed descriptor
  const peeked = Number(recv(0, ptr(new Uint8Array(1)), 1, MSG_PEEK));
  if (peeked >= 0) return peeked === 0;
  // Not a socket. On macOS a pipe without a writer is readable even if it is empty.
  const available = new Int32Array(1);
  return (
    (events & POLLHUP) !== 0 &&
    ioctl(0, constants.FIONREAD, ...repeat(ptr(available))) === 0 &&
    available[0] === 0
  );
}
