// Opens anonymous files to share with a child: a memfd on Linux, a temporary file that is unlinked at once on macOS.
import { FFIType, ptr } from "../../native/posix/ffi.ts";
import { temporaryDirectory } from "../temporary-directory.ts";
import { encodeCString, type Libc, openLibc } from "../../native/posix/libc.ts";

const IS_LINUX = process.platform === "linux";
const MFD_CLOEXEC = 1;

/** Returns a close-on-exec descriptor for reading and writing, at offset 0. @throws at the system's limits */
export function openAnonymousFile(content?: Uint8Array): number {
  const descriptor = IS_LINUX ? openMemory() : openTemporary();
  if (!content || writeAt(descriptor, content, 0)) return descriptor;
  process.getBuiltinModule("node:fs").closeSync(descriptor);
  throw new Error("The anonymous file could not be written");
}

/** macOS does not have it. */
const MEMORY_SYMBOLS = {
  memfd_create: { args: [FFIType.ptr, FFIType.u32], returns: FFIType.i32 },
} as const;

let memory: Libc<typeof MEMORY_SYMBOLS> | undefined;

function openMemory(): number {
  memory ??= openLibc(MEMORY_SYMBOLS);
  const descriptor = memory.functions.memfd_create(ptr(encodeCString("rt")), MFD_CLOEXEC);
  if (descriptor < 0) throw Object.assign(new Error("Too many open files"), { code: "EMFILE" });
  return descriptor;
}

function openTemporary(): number {
  const { mkdtempSync, openSync, rmSync } = process.getBuiltinModule("node:fs");
  const directory = mkdtempSync(`${temporaryDirectory()}/rt-`);
  try {
    return openSync(`${directory}/list`, "wx+", 0o600);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const SYMBOLS = {
  pwrite: {
    args: [FFIType.i32, FFIType.ptr, FFIType.u64, FFIType.i64],
    returns: FFIType.i64_fast,
  },
} as const;

let opened: Libc<typeof SYMBOLS> | undefined;

/** Returns whether all bytes were written. Does not move the offset at which a child reads. */
export function writeAt(descriptor: number, bytes: Uint8Array, offset: number): boolean {
  opened ??= openLibc(SYMBOLS);
  return Number(opened.functions.pwrite(descriptor, ptr(bytes), bytes.length, offset)) === bytes.length;
}
