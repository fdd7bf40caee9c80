// Lock files on Windows: opened without sharing. The system deletes the file when it is closed, at the end of the process at the
// latest.
import { toNamespacedPath } from "node:path";
import type { FileLockOperations } from "../contract/file-lock.ts";
import { kernel, wideBytes } from "../../native/windows/kernel32.ts";

const GENERIC_READ = 0x80000000;
const GENERIC_WRITE = 0x40000000;
const DELETE = 0x10000;
const SHARE_NONE = 0;
const SHARE_ALL = 7;
const CREATE_NEW = 1;
const OPEN_EXISTING = 3;
const FILE_FLAG_DELETE_ON_CLOSE = 0x04000000;
const INVALID = 0xffffffffffffffffn;
const ERROR_FILE_NOT_FOUND = 2;
const ERROR_PATH_NOT_FOUND = 3;
/** The file is being deleted. */
const ERROR_DELETE_PENDING = 303;

function open(path: string, access: number, share: number, how: number, flags: number): bigint | number {
  const { CreateFileW, GetLastError } = kernel();
  const handle = BigInt(CreateFileW(wideBytes(toNamespacedPath(path)), access, share, 0, how, flags, 0));
  return handle === INVALID ? GetLastError() : handle;
}

const lockFile: FileLockOperations["lockFile"] = (path) => {
  const access = GENERIC_READ | GENERIC_WRITE | DELETE;
  const handle = open(path, access >>> 0, SHARE_NONE, CREATE_NEW, FILE_FLAG_DELETE_ON_CLOSE);
  if (typeof handle === "number") throw new Error(`${path} cannot be made (Windows' error ${handle})`);
  return { release: () => void kernel().CloseHandle(handle) };
};

const isLocked: FileLockOperations["isLocked"] = (path) => {
  const handle = open(path, GENERIC_READ, SHARE_ALL, OPEN_EXISTING, 0);
  if (typeof handle === "number")
    return ![ERROR_FILE_NOT_FOUND, ERROR_PATH_NOT_FOUND, ERROR_DELETE_PENDING].includes(handle);
  kernel().CloseHandle(handle);
  return false;
};

export const operations: FileLockOperations = { lockFile, isLocked };
