// Checks the peer of a Unix socket (SO_PEERCRED): the session bus receives secrets, so it must run as this user or as root.
import { FFIType, ptr } from "../../../native/posix/ffi.ts";
import { type Libc, openLibc } from "../../../native/posix/libc.ts";

const SOL_SOCKET = 1;
const SO_PEERCRED = 17;
/** Index in `struct ucred`: process, user and group. */
const UID = 1;

const SYMBOLS = {
  getsockopt: {
    args: [FFIType.i32, FFIType.i32, FFIType.i32, FFIType.ptr, FFIType.ptr],
    returns: FFIType.i32,
  },
} as const;

let opened: Libc<typeof SYMBOLS> | undefined;

/** Returns why the peer is not trusted, as the end of a sentence; undefined if it is. */
export function verifyPeer(descriptor: number, uid: number): string | undefined {
  opened ??= openLibc(SYMBOLS);
  const credentials = new Uint32Array(3);
  const length = new Uint32Array([credentials.byteLength]);
  const result = opened.functions.getsockopt(
    descriptor,
    SOL_SOCKET,
    SO_PEERCRED,
    ptr(credentials),
    ptr(length),
  );
  if (result !== 0) return "has an unknown owner";
  const peer = credentials[UID]!;
  return peer === uid || peer === 0 ? undefined : `belongs to another user (uid ${peer})`;
}
