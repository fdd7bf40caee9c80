// Lock files on Linux and macOS by flock, which the kernel releases when the process ends.
//
// Non-obvious: creating and locking are two calls, so the file is renamed to its path after both (race). The lock belongs to the open
// file. A check opens the file too, and holds its own lock only for that moment.
import { closeSync, openSync, renameSync, rmSync } from "node:fs";
import type { FileLockOperations } from "../contract/file-lock.ts";
import { FFIType } from "../../native/posix/ffi.ts";
import { errorCode, type Libc, openLibc } from "../../native/posix/libc.ts";

const LOCK_SH = 1;
const LOCK_EX = 2;
const LOCK_NB = 4;

const SYMBOLS = { flock: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 } } as const;

let opened: Libc<typeof SYMBOLS> | undefined;

/** Returns the error number; 0 on success. */
function lock(descriptor: number, kind: number): number {
  opened ??= openLibc(SYMBOLS);
  return opened.functions.flock(descriptor, kind | LOCK_NB) === 0 ? 0 : opened.errno();
}

const lockFile: FileLockOperations["lockFile"] = (path, draft) => {
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
      // Unlinked before the lock is released: a file at its path is always locked.
      try {
        rmSync(path, { force: true });
      } finally {
        closeSync(descriptor);
      }
    },
  };
};

const isLocked: FileLockOperations["isLocked"] = (path) => {
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

export const operations: FileLockOperations = { lockFile, isLocked };
