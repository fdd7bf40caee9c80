// libproc of macOS, which provides what /proc provides on Linux.
import { FFIType, ptr } from "../../native/posix/ffi.ts";
import { openLibc } from "../../native/posix/libc.ts";

const PROC_PIDLISTFDS = 1;
const MAX_PATH = 4096; // PROC_PIDPATHINFO_MAXSIZE
const MAX_DESCRIPTORS = 1024;

/** Files, sockets, shared memory, semaphores and pipes; not kqueues. */
const INHERITABLE_TYPES = [1, 2, 3, 4, 6];

// A function, so that the bundler removes it on other systems.
function open() {
  return openLibc({
    proc_pidinfo: {
      args: [FFIType.i32, FFIType.i32, FFIType.u64, FFIType.ptr, FFIType.i32],
      returns: FFIType.i32,
    },
    proc_pidpath: { args: [FFIType.i32, FFIType.ptr, FFIType.u32], returns: FFIType.i32 },
  }).functions;
}

/** Returns the open descriptors of this process that a child could use. */
export function listDescriptors(): number[] {
  // struct proc_fdinfo { int32_t proc_fd; uint32_t proc_fdtype; }
  const entries = new Int32Array(MAX_DESCRIPTORS * 2);
  const size = open().proc_pidinfo(process.pid, PROC_PIDLISTFDS, 0, ptr(entries), entries.byteLength);
  const found: number[] = [];
  for (let index = 0; index < size / 4; index += 2) {
    if (INHERITABLE_TYPES.includes(entries[index + 1]!)) found.push(entries[index]!);
  }
  return found;
}

/** Returns the resolved path of a process's program; empty if it is not visible. */
export function programOf(pid: number): string {
  const path = new Uint8Array(MAX_PATH);
  const length = open().proc_pidpath(pid, ptr(path), path.length);
  return new TextDecoder().decode(path.subarray(0, Math.max(0, length)));
}
