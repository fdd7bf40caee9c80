// Pipes between rt and its children: ours alone (close-on-exec), with an end that is read without waiting.
import { FFIType, ptr } from "./ffi.ts";
import { constants } from "./constants.ts";
import { lastErrorNumber, libc, openLibc, processLibc, repeat, VARIABLE } from "./libc.ts";

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

/** Over a buffer of its own, so that it stays where it is: what the engine makes of a small array when this runs often moves. */
const pair = new Int32Array(new ArrayBuffer(8));
const pairPointer = ptr(pair);

/**
 * With `isPolled` reading never waits; somebody else's program wants it to. The caller closes both ends.
 * Throws an error with `code` EMFILE.
 */
export function openPipe({ isPolled }: { isPolled: boolean }): Pipe {
  openPair ??= process.platform === "linux" ? openPairAtOnce() : openPairInSteps();
  if (openPair() !== 0) throw Object.assign(new Error("Too many open files"), { code: "EMFILE" });
  // By their places: to go through such an array in order takes a tenth of a millisecond the first time.
  const reader = pair[0]!;
  const writer = pair[1]!;
  if (isPolled) setFlag(reader, F_SETFL, O_NONBLOCK);
  return { reader, writer };
}

function openPairAtOnce(): () => number {
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
  setting ??= openLibc({ fcntl: { args: [i32, i32, ...VARIABLE], returns: i32 } }).functions.fcntl;
  return setting(descriptor, command, ...repeat(value));
}

/** rt hands on none above: see inheritedDescriptors of process.ts. */
const LOWEST_HIGH = 64;

/**
 * Moves a descriptor above every place that a child has for one. Returns the new one, which is close-on-exec.
 * If the limit of open files is too low, the descriptor stays where it is.
 */
export function moveUp(descriptor: number): number {
  const moved = fcntl(descriptor, F_DUPFD_CLOEXEC, LOWEST_HIGH);
  if (moved < 0) return descriptor;
  closeDescriptor(descriptor);
  return moved;
}

// Read into and handed out within one call.
const buffer = new Uint8Array(1 << 17);
const bufferPointer = ptr(buffer);

/**
 * What is there now, valid until the next call; empty when there is nothing yet; null when nothing will come: at the end of
 * a pipe, and of a terminal that nobody has open any more, which is an error there.
 */
export function readAvailable(descriptor: number): Uint8Array | null {
  const count = Number(libc().read(descriptor, bufferPointer, buffer.length));
  if (count > 0) return buffer.subarray(0, count);
  return count === 0 || !isPassing() ? null : buffer.subarray(0, 0);
}

/** Whether there is something to be read, or nothing will come; a signal ends the waiting for it. */
export function hasOutput(descriptor: number, milliseconds: number): boolean {
  return processLibc().poll(ptr(new Int32Array([descriptor, POLLIN])), 1, milliseconds) > 0;
}

/** How many bytes were taken at once; null when none will ever be. */
export function writeAvailable(descriptor: number, bytes: Uint8Array): number | null {
  const count = Number(libc().write(descriptor, ptr(bytes), bytes.length));
  return count >= 0 ? count : isPassing() ? 0 : null;
}

/** Whether the last call could do better later. */
function isPassing(): boolean {
  const failure = lastErrorNumber();
  return failure === EAGAIN || failure === EINTR;
}

export function closeDescriptor(descriptor: number): void {
  libc().close(descriptor);
}
