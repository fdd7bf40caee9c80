// What others may see of this process while it keeps values of others: on Linux a core file, /proc and debuggers. macOS lets a
// debugger in only where the program's signature allows it.
import { FFIType } from "../../native/posix/ffi.ts";
import { openLibc } from "../../native/posix/libc.ts";

const PR_SET_DUMPABLE = 4;
const SYMBOLS = {
  prctl: { args: [FFIType.i32, FFIType.u64, FFIType.u64, FFIType.u64, FFIType.u64], returns: FFIType.i32 },
} as const;

export function makeNondumpable(): void {
  if (process.platform === "linux") openLibc(SYMBOLS).functions.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
