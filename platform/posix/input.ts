// Whether there is anything on standard input, found out without taking it.
import { FFIType, ptr } from "bun:ffi";
import { openLibc } from "./libc.ts";

const { i32, i64_fast, ptr: pointer, u64 } = FFIType;

const SYMBOLS = {
  lseek: { args: [i32, i64_fast, i32], returns: i64_fast },
  poll: { args: [pointer, u64, i32], returns: i32 },
  recv: { args: [i32, pointer, u64, i32], returns: i64_fast },
} as const;

const SEEK_SET = 0;
const SEEK_CUR = 1;
const SEEK_END = 2;
const MSG_PEEK = 2;
const POLLIN = 1;
const FOREVER = -1;

/** Waits until somebody writes or nobody will any more. */
export function isInputEmpty(): boolean {
  const { lseek, poll, recv } = openLibc(SYMBOLS).functions;
  const position = Number(lseek(0, 0, SEEK_CUR));
  if (position >= 0) {
    const end = Number(lseek(0, 0, SEEK_END));
    lseek(0, position, SEEK_SET);
    return end >= 0 && end <= position;
  }
  const waited = new Int32Array([0, POLLIN]); // struct pollfd: a descriptor, and two shorts in one word
  poll(ptr(waited), 1, FOREVER);
  if (((waited[1]! >>> 16) & POLLIN) === 0) return true; // a pipe without a writer, or no descriptor at all
  return Number(recv(0, ptr(new Uint8Array(1)), 1, MSG_PEEK)) === 0; // -1 where it is no socket
}
