// setenv() and unsetenv() of libc: see platform/processes/libc-environment.ts.
import { FFIType, ptr } from "../../native/posix/ffi.ts";
import { openLibc } from "../../native/posix/libc.ts";

const SYMBOLS = { setenv: { args: [FFIType.ptr, FFIType.ptr, FFIType.i32], returns: FFIType.i32 } } as const;

export const operations = {
  /** Returns whether it succeeded: foreign functions may be disabled. */
  set(name: string, value: string): boolean {
    try {
      const { setenv } = openLibc(SYMBOLS).functions;
      return setenv(ptr(Buffer.from(`${name}\0`)), ptr(Buffer.from(`${value}\0`)), 1) === 0;
    } catch {
      return false;
    }
  },
};
