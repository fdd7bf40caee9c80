// Reads the owner and mode of a path by statx(), whose structure is the same on every processor. Called by number, because older C
// libraries lack the function.
//
// Invariants:
// - Returns undefined on any error (macOS, old sandboxes): the caller then uses node:fs, which reports the error.
import type { Pointer } from "bun:ffi";
import type { PathOwner } from "../contract/files.ts";
import { FFIType, ptr, readCString } from "../../native/posix/ffi.ts";
import { encodeCString, openLibc } from "../../native/posix/libc.ts";

const STATX = process.arch === "arm64" ? 291 : 332;
const AT_FDCWD = -100;
const AT_SYMLINK_NOFOLLOW = 0x100;
/** Type, mode, owner and group. */
const STATX_WANTED = 0x1 | 0x2 | 0x8 | 0x10;
/** Offsets in `struct statx`, in units of the field. */
const SIZE = 256;
const UID = 20 / 4;
const GID = 24 / 4;
const MODE = 28 / 2;
const PATH_MAX = 4096;

const { i32, u32, u64 } = FFIType;

let opened: ReturnType<typeof open> | undefined;
const open = () =>
  openLibc({
    realpath: { args: [FFIType.ptr, FFIType.ptr], returns: FFIType.ptr },
    syscall: { args: [u64, i32, FFIType.ptr, i32, u32, FFIType.ptr], returns: i32 },
  }).functions;

export function readOwner(path: string): PathOwner | undefined {
  if (process.platform !== "linux") return undefined;
  const { syscall } = (opened ??= open());
  const result = new Uint8Array(SIZE);
  const name = ptr(encodeCString(path));
  if (syscall(STATX, AT_FDCWD, name, AT_SYMLINK_NOFOLLOW, STATX_WANTED, ptr(result)) !== 0) return undefined;
  const numbers = new Uint32Array(result.buffer);
  return { uid: numbers[UID]!, gid: numbers[GID]!, mode: new Uint16Array(result.buffer)[MODE]! };
}

export function resolveRealPath(path: string): string | undefined {
  if (process.platform !== "linux") return undefined;
  const { realpath } = (opened ??= open());
  const result = new Uint8Array(PATH_MAX);
  const found = realpath(ptr(encodeCString(path)), ptr(result)) as Pointer | null;
  return found === null ? undefined : readCString(found);
}
