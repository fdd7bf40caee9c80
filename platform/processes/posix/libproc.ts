// What macOS tells of processes where Linux has /proc: libproc, a part of its C library.
import { FFIType, ptr } from "../../native/posix/ffi.ts";
import { openLibc } from "../../native/posix/libc.ts";

const PROC_PIDLISTFDS = 1;
const MAX_PATH = 4096; // PROC_PIDPATHINFO_MAXSIZE
const MOST_DESCRIPTORS = 1024;

/** Files, sockets, shared memory, semaphores, pipes; but no queue of kernel events. */
const PASSED_ON = [1, 2, 3, 4, 6];

// Within a function, so that the bundler leaves all of this out where nobody calls it.
function open() {
  return openLibc({
    proc_pidinfo: {
      args: [FFIType.i32, FFIType.i32, FFIType.u64, FFIType.ptr, FFIType.i32],
      returns: FFIType.i32,
    },
    proc_pidpath: { args: [FFIType.i32, FFIType.ptr, FFIType.u32], returns: FFIType.i32 },
  }).functions;
}

/** The open descriptors of this process that another program could use. */
export function listDescriptors(): number[] {
  // struct proc_fdinfo { int32_t proc_fd; uint32_t proc_fdtype; }
  const entries = new Int32Array(MOST_DESCRIPTORS * 2);
  const size = open().proc_pidinfo(process.pid, PROC_PIDLISTFDS, 0, ptr(entries), entries.byteLength);
  const found: number[] = [];
  for (let index = 0; index < size / 4; index += 2) {
    if (PASSED_ON.includes(entries[index + 1]!)) found.push(entries[index]!);
  }
  return found;
}

/** The path of a process's program, links resolved; empty when it cannot be seen. */
export function programOf(pid: number): string {
  const path = new Uint8Array(MAX_PATH);
  const length = open().proc_pidpath(pid, ptr(path), path.length);
  return new TextDecoder().decode(path.subarray(0, Math.max(0, length)));
}
