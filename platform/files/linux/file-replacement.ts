// Replaces a small file by libc.
import { FFIType, ptr } from "../../native/posix/ffi.ts";
import { constants } from "../../native/posix/constants.ts";
import { encodeCString, libc, openLibc } from "../../native/posix/libc.ts";

const O_WRONLY = 1;
const O_CREAT = 0o100;
const O_EXCL = 0o200;
const MODE = 0o600;
const { i32, ptr: pointer } = FFIType;

export function replaceFile(path: string, content: Uint8Array): boolean {
  const { open, rename, unlink } = openLibc({
    open: { args: [pointer, i32, i32], returns: i32 },
    rename: { args: [pointer, pointer], returns: i32 },
    unlink: { args: [pointer], returns: i32 },
  }).functions;
  const draft = encodeCString(`${path}.${process.pid}`);
  const file = open(ptr(draft), O_WRONLY | O_CREAT | O_EXCL | constants.O_CLOEXEC, MODE);
  if (file < 0) return false;
  const count = Number(libc().write(file, ptr(content), content.length));
  libc().close(file);
  const isReplaced = count === content.length && rename(ptr(draft), ptr(encodeCString(path))) === 0;
  if (!isReplaced) unlink(ptr(draft));
  return isReplaced;
}
