// Files that are held, on Linux and macOS: by flock, which the kernel gives back when the process ends.
//
// Surprising: making a file and locking it are two calls, so it gets its name after them; a lock goes with the open file, not
// with its name. Whoever looks opens the file too, and its own lock lasts only as long as that.
import { closeSync, openSync, renameSync, rmSync } from "node:fs";
import type { FileLockOperations } from "../contract/file-lock.ts";
import { FFIType } from "../../native/posix/ffi.ts";
import { errorCode, type Libc, openLibc } from "../../native/posix/libc.ts";

const LOCK_SH = 1;
const LOCK_EX = 2;
const LOCK_NB = 4;

const SYMBOLS = { flock: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 } } as const;

let opened: Libc<typeof SYMBOLS> | undefined;

/** The number of the error; 0 for none. */
function lock(descriptor: number, kind: number): number {
  opened ??= openLibc(SYMBOLS);
  return opened.functions.flock(descriptor, kind | LOCK_NB) === 0 ? 0 : opened.errno();
}

const holdFile: FileLockOperations["holdFile"] = (path, draft) => {
  const descriptor = openSync(draft, "wx", 0o600);
  try {
    const failure = lock(descriptor, LOCK_EX);
    if (failure !== 0) throw new Error(`${draft} cannot be locked (${errorCode(failure)})`);
    renameSync(draft, path);
  } catch (error) {
    closeSync(descriptor);
    rmSync(draft, { force: true });
    throw error;
  }
  return {
    release() {
      // Its name first: what has one is held.
      try {
        rmSync(path, { force: true });
      } finally {
        closeSync(descriptor);
      }
    },
  };
};

const isHeld: FileLockOperations["isHeld"] = (path) => {
  let descriptor: number;
  try {
    descriptor = openSync(path, "r");
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ENOENT";
  }
  try {
    const failure = lock(descriptor, LOCK_SH);
    return failure !== 0;
  } finally {
    closeSync(descriptor);
  }
};

export const operations: FileLockOperations = { holdFile, isHeld };
