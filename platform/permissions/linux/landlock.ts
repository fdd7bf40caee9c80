// Finds out which version of Landlock the kernel has.
import { FFIType } from "../../native/posix/ffi.ts";
import { openLibc } from "../../native/posix/libc.ts";

const { i64, i64_fast } = FFIType;
const CREATE_RULESET = 444;
const VERSION_FLAG = 1;

/** The first version that restricts truncation and moves between folders. */
export const MIN_VERSION = 3;
export const VERSION_WITH_SCOPES = 6;

/** Returns 0 if the kernel lacks Landlock, or has it disabled. */
export function landlockVersion(): number {
  const { functions } = openLibc({ syscall: { args: [i64, i64, i64, i64], returns: i64_fast } });
  return Math.max(0, Number(functions.syscall(CREATE_RULESET, 0, 0, VERSION_FLAG)));
}
