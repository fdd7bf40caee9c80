// Stamps by statx(), which tells all of them in one layout on every architecture.
//
// Surprising:
// - The addresses of both blocks are found out once, so that a path costs the call and a few loads; node's own call
//   makes an object of each, which takes longer than the system does.
// - What the engine makes of a small typed array may be somewhere else later. One over a buffer of its own stays, and each call
//   sees whether something was written to it.
import type { Pointer } from "bun:ffi";
import { ABSENT, FINGERPRINT_WORDS, type StampOperations } from "../contract/stat-fingerprint.ts";
import { FFIType, ptr } from "../../native/posix/ffi.ts";
import { type Libc, openLibc } from "../../native/posix/libc.ts";

const AT_FDCWD = -100;
const AT_SYMLINK_NOFOLLOW = 0x100;
const STATX_BASIC_STATS = 0x7ff;
/** Bytes of a struct statx. */
const SIZE = 256;
/** Where it has the inode and the size, both times, and the device; the mode is half of a word. */
const FIELDS = [32, 36, 40, 44, 96, 100, 104, 112, 116, 120, 136, 140].map((offset) => offset / 4);
const MASK = 0;
const MODE = 28 / 4;
/** Of a stamp: the low and the high word of the seconds of the last change, and its nanoseconds. */
const [LOW, HIGH, NANOSECONDS] = [5, 6, 7];

const { i32, u32, ptr: pointer } = FFIType;
const SYMBOLS = { statx: { args: [i32, pointer, i32, u32, pointer], returns: i32 } } as const;

let opened: Libc<typeof SYMBOLS> | undefined;

const openStamps: StampOperations["openStamps"] = (paths) => {
  try {
    opened ??= openLibc(SYMBOLS);
  } catch {
    return undefined; // of a C library that is older
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
      // Of a file system that does not know all of it, and where somebody has moved the block.
      if ((found[MASK] & STATX_BASIC_STATS) !== STATX_BASIC_STATS)
        throw new Error("statx() tells too little");
      stamp[0] = found[MODE]! & 0xffff;
      for (let index = 1; index < FINGERPRINT_WORDS; index += 1) stamp[index] = found[FIELDS[index - 1]!]!;
      return stamp;
    },
  };
};

export const operations: StampOperations = {
  openStamps,
  changeOf: (stamp) =>
    ((stamp[HIGH]! | 0) * 2 ** 32 + stamp[LOW]!) * 1000 + Math.floor(stamp[NANOSECONDS]! / 1e6),
};
