// Makes this process nondumpable while it holds secrets: no core file, and no access through /proc or a debugger on Linux. On macOS
// a debugger needs permission in the program's signature.
import { FFIType } from "../../native/posix/ffi.ts";
import { openLibc } from "../../native/posix/libc.ts";

const PR_SET_DUMPABLE = 4;
const SYMBOLS = {
  prctl: { args: [FFIType.i32, FFIType.u64, FFIType.u64, FFIType.u64, FFIType.u64], returns: FFIType.i32 },
} as const;

export function makeNondumpable(): void {
  if (process.platform === "linux") openLibc(SYMBOLS).functions.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
