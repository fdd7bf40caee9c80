// Pipes between rt and its children: close-on-exec, with optional non-blocking reads.
import { FFIType, ptr } from "./ffi.ts";
import { constants } from "./constants.ts";
import { lastErrorNumber, libc, openLibc, processLibc, repeat, VARIADIC } from "./libc.ts";

const F_SETFD = 2;
const F_SETFL = 4;
const FD_CLOEXEC = 1;
const F_DUPFD_CLOEXEC = process.platform === "linux" ? 1030 : 67;
const { EAGAIN, O_CLOEXEC, O_NONBLOCK } = constants;
const EINTR = 4;
const POLLIN = 1;

const { i32, ptr: pointer } = FFIType;

let openPair: (() => number) | undefined;

export interface Pipe {
  readonly reader: number;
  readonly writer: number;
}

/** Has its own ArrayBuffer, because the engine may move the storage of a small typed array. */
const pair = new Int32Array(new ArrayBuffer(8));
const pairPointer = ptr(pair);

/**
 * Opens a pipe. The caller closes both ends.
 *
 * @param isPolled makes reads non-blocking; must be false for an end that a child process reads
 * @throws an error with `code` EMFILE
 */
export function openPipe({ isPolled }: { isPolled: boolean }): Pipe {
  openPair ??= process.platform === "linux" ? openPairAtomically() : openPairInSteps();
  if (openPair() !== 0) throw Object.assign(new Error("Too many open files"), { code: "EMFILE" });
  // Destructuring uses the array iterator, which takes 0.1 ms the first time.
  const reader = pair[0]!;
  const writer = pair[1]!;
  if (isPolled) setFlag(reader, F_SETFL, O_NONBLOCK);
  return { reader, writer };
}

function openPairAtomically(): () => number {
  const { pipe2 } = openLibc({ pipe2: { args: [pointer, i32], returns: i32 } }).functions;
  return () => pipe2(pairPointer, O_CLOEXEC);
}

function openPairInSteps(): () => number {
  const { pipe } = openLibc({ pipe: { args: [pointer], returns: i32 } }).functions;
  return () => {
    const status = pipe(pairPointer);
    for (const descriptor of pair) if (status === 0) setFlag(descriptor, F_SETFD, FD_CLOEXEC);
    return status;
  };
}

let setting:
  ((descriptor: number, command: number, ...value: ReturnType<typeof repeat>) => number) | undefined;

function setFlag(descriptor: number, command: number, value: number): void {
  fcntl(descriptor, command, value);
}

function fcntl(descriptor: number, command: number, value: number): number {
  setting ??= openLibc({ fcntl: { args: [i32, i32, ...VARIADIC], returns: i32 } }).functions.fcntl;
  return setting(descriptor, command, ...repeat(value));
}

/** rt passes on no descriptor above 63: see inheritedDescriptors in processes/posix/process.ts. */
const FIRST_PRIVATE_DESCRIPTOR = 64;

/**
 * Moves a descriptor above those that a child inherits. Returns the new one, which is close-on-exec.
 * If the limit of open files is too low, the descriptor is returned unchanged.
 */
export function moveUp(descriptor: number): number {
  const moved = fcntl(descriptor, F_DUPFD_CLOEXEC, FIRST_PRIVATE_DESCRIPTOR);
  if (moved < 0) return descriptor;
  closeDescriptor(descriptor);
  return moved;
}

// Reused by each call.
const buffer = new Uint8Array(1 << 17);
const bufferPointer = ptr(buffer);

/**
 * Reads the available bytes, which are valid until the next call. Returns an empty array if there are none yet, and null at the
 * end of a pipe or of a closed terminal (EIO).
 */
export function readAvailable(descriptor: number): Uint8Array | null {
  const count = Number(libc().read(descriptor, bufferPointer, buffer.length));
  if (count > 0) return buffer.subarray(0, count);
  return count === 0 || !isTransientError() ? null : buffer.subarray(0, 0);
}

/** Waits for bytes or the end of input. A signal ends the wait. */
export function hasOutput(descriptor: number, milliseconds: number): boolean {
  return processLibc().poll(ptr(new Int32Array([descriptor, POLLIN])), 1, milliseconds) > 0;
}

/** Returns the number of bytes written; null after a permanent error. */
export function writeAvailable(descriptor: number, bytes: Uint8Array): number | null {
  const count = Number(libc().write(descriptor, ptr(bytes), bytes.length));
  return count >= 0 ? count : isTransientError() ? 0 : null;
}

function isTransientError(): boolean {
  const failure = lastErrorNumber();
  return failure === EAGAIN || failure === EINTR;
}

export function closeDescriptor(descriptor: number): void {
  libc().close(descriptor);
}
