// What rt has in C, the programs and the library beside this file, is opened from memory: no file is written, and nobody can put
// another one in its place.
//
// Contract: the path means the program to this process and to what it starts, until that is the program; what is started so
// does not inherit it. Where the system has no such programs (vm.memfd_noexec) the error has `code` EACCES; where it does not
// let one be started, a policy or the lack of /proc, only the start tells.
import { FFIType, ptr } from "../posix/ffi.ts";
import { encodeCString, openLibc } from "../posix/libc.ts";
import { closeDescriptor, writeAvailable } from "../posix/pipe.ts";
import { ARM64, X64 } from "./programs.ts";

const MFD_CLOEXEC = 1;
/** From Linux 6.3 on; before that all of them may be started, and this is an error. */
const MFD_EXEC = 0x10;
const EINVAL = 22;

/** As base64, and deflated. */
const PROGRAMS = process.arch === "arm64" ? ARM64 : X64;
const opened = new Map<string, string>();

export function openProgram(name: "gate" | "launcher" | "monitor"): string {
  const known = opened.get(name);
  if (known !== undefined) return known;
  const { path } = openMemory(name);
  opened.set(name, path);
  return path;
}

/** A file with it. The caller closes the descriptor when nobody needs the path any more. */
export function openMemory(name: keyof typeof PROGRAMS): { path: string; descriptor: number } {
  const bytes = Bun.inflateSync(Uint8Array.fromBase64(PROGRAMS[name]));
  const { functions, errno } = openLibc({
    memfd_create: { args: [FFIType.ptr, FFIType.u32], returns: FFIType.i32 },
  });
  const create = (flags: number) => functions.memfd_create(ptr(encodeCString("rt")), flags);
  let descriptor = create(MFD_CLOEXEC | MFD_EXEC);
  if (descriptor < 0 && errno() === EINVAL) descriptor = create(MFD_CLOEXEC);
  if (descriptor >= 0 && writeAvailable(descriptor, bytes) === bytes.length)
    return { path: `/proc/self/fd/${descriptor}`, descriptor };
  if (descriptor >= 0) closeDescriptor(descriptor);
  throw Object.assign(new Error("No program can be started from memory"), { code: "EACCES" });
}
