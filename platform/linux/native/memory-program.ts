// A small program of rt's own (the C beside this file) that is started from memory: no file is written, and nobody can put
// another one in its place.
//
// Contract: the path means the program to this process and to what it starts, until that is the program; what is started so
// does not inherit it. Where the system starts nothing from memory (vm.memfd_noexec, no /proc) the error has `code` EACCES.
import { FFIType, ptr } from "../../posix/ffi.ts";
import { encodeCString, openLibc } from "../../posix/libc.ts";
import { closeDescriptor } from "../../posix/pipe.ts";
import { ARM64, X64 } from "./programs.ts";

const MFD_CLOEXEC = 1;
/** From Linux 6.3 on; before that all of them may be started, and this is an error. */
const MFD_EXEC = 0x10;
const X_OK = 1;

/** As base64. */
const PROGRAMS = process.arch === "arm64" ? ARM64 : X64;
const opened = new Map<string, string>();

export function openProgram(name: keyof typeof PROGRAMS): string {
  const known = opened.get(name);
  if (known !== undefined) return known;
  const path = writeProgram(Buffer.from(PROGRAMS[name], "base64"));
  opened.set(name, path);
  return path;
}

function writeProgram(bytes: Uint8Array): string {
  const { memfd_create, write, access } = openLibc({
    memfd_create: { args: [FFIType.ptr, FFIType.u32], returns: FFIType.i32 },
    write: { args: [FFIType.i32, FFIType.ptr, FFIType.u64], returns: FFIType.i64_fast },
    access: { args: [FFIType.ptr, FFIType.i32], returns: FFIType.i32 },
  }).functions;
  const create = (flags: number) => memfd_create(ptr(encodeCString("rt")), flags);
  let descriptor = create(MFD_CLOEXEC | MFD_EXEC);
  if (descriptor < 0) descriptor = create(MFD_CLOEXEC);
  if (descriptor < 0) throw forbidden();
  const path = `/proc/self/fd/${descriptor}`;
  const isWhole = Number(write(descriptor, ptr(bytes), bytes.length)) === bytes.length;
  if (isWhole && access(ptr(encodeCString(path)), X_OK) === 0) return path;
  closeDescriptor(descriptor);
  throw forbidden();
}

function forbidden(): Error {
  return Object.assign(new Error("No program can be started from memory"), { code: "EACCES" });
}
