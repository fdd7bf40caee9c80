// Passes one descriptor and one byte over a Unix socket (SCM_RIGHTS).
//
// Non-obvious: every structure has its own ArrayBuffer. The engine may move the storage of a small typed array, and the kernel
// would use the old address.
import { FFIType, ptr } from "../../native/posix/ffi.ts";
import { type Libc, openLibc } from "../../native/posix/libc.ts";

const { i32, i64_fast, ptr: pointer, u64 } = FFIType;

const SYMBOLS = {
  close: { args: [i32], returns: i32 },
  recvmsg: { args: [i32, pointer, i32], returns: i64_fast },
  sendmsg: { args: [i32, pointer, i32], returns: i64_fast },
  socketpair: { args: [i32, i32, i32, pointer], returns: i32 },
  write: { args: [i32, pointer, u64], returns: i64_fast },
} as const;

let opened: Libc<typeof SYMBOLS>["functions"] | undefined;

export function socketCalls(): Libc<typeof SYMBOLS>["functions"] {
  opened ??= openLibc(SYMBOLS).functions;
  return opened;
}

const AF_UNIX = 1;
const SOCK_STREAM = 1;
const SOCK_CLOEXEC = 0o2000000;
const MSG_NOSIGNAL = 0x4000;
const MSG_CMSG_CLOEXEC = 0x40000000;

/** Returns two close-on-exec ends. @throws an error with `code` EMFILE */
export function openSocketPair(): readonly [number, number] {
  const pair = new ArrayBuffer(8);
  if (socketCalls().socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ptr(new Uint8Array(pair))) !== 0)
    throw Object.assign(new Error("Too many open files"), { code: "EMFILE" });
  const view = new Int32Array(pair);
  return [view[0]!, view[1]!];
}

interface FdMessage {
  readonly header: Uint8Array;
  readonly content: Uint8Array;
  readonly control: ArrayBuffer;
  /** Referenced by native structures, so they must not be collected. */
  readonly kept: readonly unknown[];
}

const CONTROL_SIZE = 24;

function makeMessage(hasControl: boolean): FdMessage {
  const [header, vector, content, control] = [56, 16, 1, CONTROL_SIZE].map(
    (size) => new ArrayBuffer(size),
  ) as [ArrayBuffer, ArrayBuffer, ArrayBuffer, ArrayBuffer];
  const [text, rights] = [new Uint8Array(content), new Uint8Array(control)];
  const vectorView = new DataView(vector);
  vectorView.setBigUint64(0, BigInt(ptr(text)), true);
  vectorView.setBigUint64(8, 1n, true);
  const vectorBytes = new Uint8Array(vector);
  const view = new DataView(header);
  view.setBigUint64(16, BigInt(ptr(vectorBytes)), true);
  view.setBigUint64(24, 1n, true);
  view.setBigUint64(32, hasControl ? BigInt(ptr(rights)) : 0n, true);
  view.setBigUint64(40, hasControl ? BigInt(CONTROL_SIZE) : 0n, true);
  return { header: new Uint8Array(header), content: text, control, kept: [vectorBytes, rights] };
}

/** @param descriptor -1 to send the byte only */
export function sendDescriptor(socket: number, byte: number, descriptor: number): boolean {
  const message = makeMessage(descriptor >= 0);
  message.content[0] = byte;
  const view = new DataView(message.control);
  view.setBigUint64(0, 20n, true); // the length, of this header and the descriptor
  view.setInt32(8, 1, true); // SOL_SOCKET
  view.setInt32(12, 1, true); // SCM_RIGHTS
  view.setInt32(16, descriptor, true);
  const sent = Number(socketCalls().sendmsg(socket, ptr(message.header), MSG_NOSIGNAL));
  return sent === 1 && message.kept.length > 0;
}

/** Returns null if the other end is closed. */
export function receiveDescriptor(socket: number): { byte: number; descriptor: number } | null {
  const message = makeMessage(true);
  const count = Number(socketCalls().recvmsg(socket, ptr(message.header), MSG_CMSG_CLOEXEC));
  if (count !== 1 || message.kept.length === 0) return null;
  const length = new DataView(message.header.buffer as ArrayBuffer).getBigUint64(40, true);
  const descriptor = length >= 20n ? new DataView(message.control).getInt32(16, true) : -1;
  return { byte: message.content[0]!, descriptor };
}

/** @param bytes at most a socket buffer */
export function writeBytes(descriptor: number, bytes: Uint8Array): boolean {
  return Number(socketCalls().write(descriptor, ptr(bytes), bytes.length)) === bytes.length;
}
