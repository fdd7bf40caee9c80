// Loads rt's native programs into memfds (anonymous files): no file is written, so no other process can replace them.
//
// Invariants:
// - The path is valid in this process and in a child until its exec. The program itself does not inherit the descriptor.
// - If the system forbids executable memfds (vm.memfd_noexec), the error has `code` EACCES. A policy, or a missing /proc,
//   makes only the exec fail.
import { FFIType, ptr } from "../posix/ffi.ts";
import { encodeCString, openLibc } from "../posix/libc.ts";
import { closeDescriptor, writeAvailable } from "../posix/pipe.ts";
import arm64Launcher from "./compiled/arm64/launcher.bin" with { type: "file" };
import arm64Monitor from "./compiled/arm64/monitor.bin" with { type: "file" };
import arm64Recorder from "./compiled/arm64/recorder.bin" with { type: "file" };
import arm64Registration from "./compiled/arm64/registration.bin" with { type: "file" };
import arm64Sandbox from "./compiled/arm64/sandbox.bin" with { type: "file" };
import x64Launcher from "./compiled/x64/launcher.bin" with { type: "file" };
import x64Monitor from "./compiled/x64/monitor.bin" with { type: "file" };
import x64Recorder from "./compiled/x64/recorder.bin" with { type: "file" };
import x64Registration from "./compiled/x64/registration.bin" with { type: "file" };
import x64Sandbox from "./compiled/x64/sandbox.bin" with { type: "file" };

const MFD_CLOEXEC = 1;
/** Since Linux 6.3. Older kernels reject the flag; there every memfd is executable. */
const MFD_EXEC = 0x10;
const EINVAL = 22;

/** Base64 of gzip in rt (build/bundle/native-programs.ts), and paths in a checkout, whose tests import this module. */
const PROGRAMS =
  process.arch === "arm64"
    ? {
        launcher: arm64Launcher,
        monitor: arm64Monitor,
        recorder: arm64Recorder,
        registration: arm64Registration,
        sandbox: arm64Sandbox,
      }
    : {
        launcher: x64Launcher,
        monitor: x64Monitor,
        recorder: x64Recorder,
        registration: x64Registration,
        sandbox: x64Sandbox,
      };
const opened = new Map<string, string>();

function readProgram(program: string): Uint8Array<ArrayBuffer> {
  if (program.startsWith("/")) return process.getBuiltinModule("node:fs").readFileSync(program);
  return Bun.gunzipSync(Uint8Array.fromBase64(program));
}

export function openProgram(name: "registration" | "launcher" | "monitor" | "sandbox"): string {
  const cached = opened.get(name);
  if (cached !== undefined) return cached;
  const { path } = openMemory(name);
  opened.set(name, path);
  return path;
}

/** Opens a memfd with a program. The caller closes the descriptor when the path is no longer needed. */
export function openMemory(name: keyof typeof PROGRAMS): { path: string; descriptor: number } {
  const bytes = readProgram(PROGRAMS[name]);
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
