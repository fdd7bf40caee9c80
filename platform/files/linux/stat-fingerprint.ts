// Stat fingerprints by statx(), which has one layout on every architecture.
//
// Non-obvious:
// - The addresses of both buffers are computed once, so a path costs one call. The objects of fs.lstat take longer than the
//   system call.
// - Each buffer has its own ArrayBuffer: the engine may move the storage of a small typed array.
import type { Pointer } from "bun:ffi";
import { ABSENT, FINGERPRINT_WORDS, type StatFingerprintOperations } from "../contract/stat-fingerprint.ts";
import { FFIType, ptr } from "../../native/posix/ffi.ts";
import { type Libc, openLibc } from "../../native/posix/libc.ts";

const AT_FDCWD = -100;
const AT_SYMLINK_NOFOLLOW = 0x100;
const STATX_BASIC_STATS = 0x7ff;
/** Size of `struct statx` in bytes. */
const SIZE = 256;
/** Word offsets of inode, size, ctime, mtime and device; the mode is half a word. */
const FIELDS = [32, 36, 40, 44, 96, 100, 104, 112, 116, 120, 136, 140].map((offset) => offset / 4);
const MASK = 0;
const MODE = 28 / 4;
/** Words of a fingerprint: low and high half of ctime in seconds, and its nanoseconds. */
const [LOW, HIGH, NANOSECONDS] = [5, 6, 7];

const { i32, u32, ptr: pointer } = FFIType;
const SYMBOLS = { statx: { args: [i32, pointer, i32, u32, pointer], returns: i32 } } as const;

let opened: Libc<typeof SYMBOLS> | undefined;

const openFingerprints: StatFingerprintOperations["openFingerprints"] = (paths) => {
  try {
    opened ??= openLibc(SYMBOLS);
  } catch {
    return undefined; // old C libraries lack the call
  }
  const { functions, errno } = opened;
  const found = new Uint32Array(new ArrayBuffer(SIZE));
  const stamp = new Uint32Array(FINGERPRINT_WORDS);
  const [start, into] = [Number(ptr(paths)), ptr(found)];
  return {
    take(at, follows) {
      const flags = follows ? 0 : AT_SYMLINK_NOFOLLOW;
      found[MASK] = 0;
      if (functions.statx(AT_FDCWD, (start + at) as Pointer, flags, STATX_BASIC_STATS, into) !== 0) {
        stamp.fill(0);
        stamp[0] = ABSENT + errno();
        return stamp;
      }
      // The file system does not provide all fields, or the buffer has moved.
      if ((found[MASK] & STATX_BASIC_STATS) !== STATX_BASIC_STATS)
        throw new Error("statx() tells too little");
      stamp[0] = found[MODE]! & 0xffff;
      for (let index = 1; index < FINGERPRINT_WORDS; index += 1) stamp[index] = found[FIELDS[index - 1]!]!;
      return stamp;
    },
  };
};

export const operations: StatFingerprintOperations = {
  openFingerprints,
  changeTimeOf: (stamp) =>
    ((stamp[HIGH]! | 0) * 2 ** 32 + stamp[LOW]!) * 1000 + Math.floor(stamp[NANOSECONDS]! / 1e6),
};
