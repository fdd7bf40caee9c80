// Finds out whether this rt process runs inside a task with permissions. Its listener decides for the whole process tree.
//
// Non-obvious: the variable alone proves nothing, because anyone can set it. The filter refuses datagram sockets, which every
// system without it has.
import { FFIType } from "../../native/posix/ffi.ts";
import { openLibc } from "../../native/posix/libc.ts";
import { closeDescriptor } from "../../native/posix/pipe.ts";
import { operations as host } from "../../processes/posix/process.ts";

const MARKER = "RT_PERMISSIONS";
const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const EPROTONOSUPPORT = 93;

let known: boolean | undefined;

export function isInsidePermissions(): boolean {
  return (known ??= host.originalVariable(MARKER) !== undefined && refusesDatagrams());
}

function refusesDatagrams(): boolean {
  const { i32 } = FFIType;
  const { functions, errno } = openLibc({ socket: { args: [i32, i32, i32], returns: i32 } });
  const descriptor = functions.socket(AF_UNIX, SOCK_DGRAM, 0);
  if (descriptor < 0) return errno() === EPROTONOSUPPORT;
  closeDescriptor(descriptor);
  return false;
}
