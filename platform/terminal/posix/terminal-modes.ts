// Terminal modes, size and foreground process group, and pseudo-terminals, through libc.
//
// Invariants:
// - Errors are ignored: a closed terminal is detected by the reader. Only a few fields of `struct termios` are used, with the offsets
//   in `constants.ts`.
import { constants } from "../../native/posix/constants.ts";
import { FFIType, ptr } from "../../native/posix/ffi.ts";
import { encodeCString, libc, type Libc, openLibc, repeat, VARIADIC } from "../../native/posix/libc.ts";
import { closeDescriptor } from "../../native/posix/pipe.ts";

const { i32, u64, ptr: pointer } = FFIType;

const SYMBOLS = {
  cfmakeraw: { args: [pointer], returns: i32 },
  fcntl: { args: [i32, i32, ...VARIADIC], returns: i32 },
  getpgrp: { args: [], returns: i32 },
  grantpt: { args: [i32], returns: i32 },
  ioctl: { args: [i32, u64, ...VARIADIC], returns: i32 },
  posix_openpt: { args: [i32], returns: i32 },
  ptsname_r: { args: [i32, pointer, u64], returns: i32 },
  tcgetattr: { args: [i32, pointer], returns: i32 },
  tcgetpgrp: { args: [i32], returns: i32 },
  tcsetattr: { args: [i32, i32, pointer], returns: i32 },
  unlockpt: { args: [i32], returns: i32 },
} as const;

let opened: Libc<typeof SYMBOLS>["functions"] | undefined;

function terminalLibc(): Libc<typeof SYMBOLS>["functions"] {
  return (opened ??= openLibc(SYMBOLS).functions);
}

const { O_CLOEXEC, O_NOCTTY, O_NONBLOCK, TERMIOS_CC, TERMIOS_LFLAG, TERMIOS_OFLAG } = constants;
const O_RDWR = 2;
const F_SETFL = 4;
const F_SETFD = 2;
const FD_CLOEXEC = 1;
const NOW = 0;
const LONGEST_NAME = 1024;

/** Upper bound of `struct termios` on any system. */
const MODES_SIZE = 256;
export type TerminalModes = Uint8Array;

export function modesOf(descriptor: number): TerminalModes | null {
  const modes = new Uint8Array(MODES_SIZE);
  return terminalLibc().tcgetattr(descriptor, ptr(modes)) === 0 ? modes : null;
}

export function setModes(descriptor: number, modes: TerminalModes): void {
  terminalLibc().tcsetattr(descriptor, NOW, ptr(modes));
}

/** Returns raw modes: every byte passes unchanged in both directions. */
export function toRawModes(modes: TerminalModes): TerminalModes {
  const raw = modes.slice();
  terminalLibc().cfmakeraw(ptr(raw));
  return raw;
}

/** Returns modes for single keys: no echo and no line editing; Ctrl-C and Ctrl-Z still send signals. */
export function toKeyModes(modes: TerminalModes): TerminalModes {
  const changed = modes.slice();
  const flags = word(modes, TERMIOS_LFLAG) & ~(ECHO | ICANON);
  new DataView(changed.buffer).setUint32(TERMIOS_LFLAG, flags >>> 0, true);
  changed[TERMIOS_CC + constants.VQUIT] = constants._POSIX_VDISABLE;
  return changed;
}

const OPOST = 1;
const ECHO = 0o10;
const ICANON = process.platform === "darwin" ? 0x100 : 2;
const VSUSP = 10;

function word(modes: TerminalModes, place: number): number {
  return new DataView(modes.buffer, modes.byteOffset).getUint32(place, true);
}

/** Returns whether output is processed (OPOST), for example line ends. */
export function changesOutput(modes: TerminalModes): boolean {
  return (word(modes, TERMIOS_OFLAG) & OPOST) !== 0;
}

export function withOutputChanged(modes: TerminalModes, isChanged: boolean): TerminalModes {
  const changed = modes.slice();
  const flags = word(modes, TERMIOS_OFLAG);
  new DataView(changed.buffer).setUint32(TERMIOS_OFLAG, isChanged ? flags | OPOST : flags & ~OPOST, true);
  return changed;
}

/** Returns the byte that stops a job; undefined if there is none. */
export function suspendKey(modes: TerminalModes): number | undefined {
  return keyAt(modes, VSUSP);
}

/** Returns the bytes that end a job, with their signals. */
export function endingKeys(modes: TerminalModes): [key: number | undefined, signal: "SIGINT" | "SIGQUIT"][] {
  return [
    [keyAt(modes, constants.VINTR), "SIGINT"],
    [keyAt(modes, constants.VQUIT), "SIGQUIT"],
  ];
}

function keyAt(modes: TerminalModes, place: number): number | undefined {
  const key = modes[TERMIOS_CC + place]!;
  const isHeeded = (word(modes, TERMIOS_LFLAG) & constants.ISIG) !== 0;
  return isHeeded && key !== constants._POSIX_VDISABLE ? key : undefined;
}

/** Returns whether control bytes are echoed, as ^Z. */
export function showsKeys(modes: TerminalModes): boolean {
  const flags = word(modes, TERMIOS_LFLAG);
  return (flags & ECHO) !== 0 && (flags & constants.ECHOCTL) !== 0;
}

/** Returns rows, columns and pixels; null if they are unknown. */
export function sizeOf(descriptor: number): Uint16Array | null {
  const size = new Uint16Array(4);
  return terminalLibc().ioctl(descriptor, constants.TIOCGWINSZ, ...repeat(ptr(size))) === 0 ? size : null;
}

/** Sets the size; the kernel sends SIGWINCH to the program. */
export function setSize(descriptor: number, size: Uint16Array): void {
  terminalLibc().ioctl(descriptor, constants.TIOCSWINSZ, ...repeat(ptr(size)));
}

/** Returns the foreground process group; -1 if the terminal is not rt's controlling terminal. */
export function foregroundOf(descriptor: number): number {
  return terminalLibc().tcgetpgrp(descriptor);
}

/** Returns whether another job of the shell is in the foreground. */
export function isInBackground(descriptor: number): boolean {
  const group = foregroundOf(descriptor);
  return group > 0 && group !== terminalLibc().getpgrp();
}

/**
 * Opens rt's terminal again, non-blocking, so that other descriptors stay blocking. Returns -1 on failure. The caller closes it.
 */
export function openOwn(descriptors: readonly number[]): number {
  const flags = O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC;
  const own = libc().open(ptr(encodeCString("/dev/tty")), flags);
  if (own >= 0) return own;
  const { ttyname_r } = openLibc({ ttyname_r: { args: [i32, pointer, u64], returns: i32 } }).functions;
  const name = new Uint8Array(LONGEST_NAME);
  for (const descriptor of descriptors)
    if (ttyname_r(descriptor, ptr(name), name.length) === 0) return libc().open(ptr(name), flags);
  return -1;
}

export interface TerminalPair {
  /** Non-blocking. */
  readonly master: number;
  readonly slave: number;
  /** Path of the slave. */
  readonly path: string;
}

/** Opens a pseudo-terminal. The caller closes both ends. Returns undefined if none is available. */
export function openPair(): TerminalPair | undefined {
  const calls = terminalLibc();
  const master = calls.posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0) return undefined;
  calls.fcntl(master, F_SETFD, ...repeat(FD_CLOEXEC));
  calls.fcntl(master, F_SETFL, ...repeat(O_RDWR | O_NONBLOCK));
  const name = new Uint8Array(LONGEST_NAME);
  const isOpen =
    calls.grantpt(master) === 0 &&
    calls.unlockpt(master) === 0 &&
    calls.ptsname_r(master, ptr(name), name.length) === 0;
  const slave = isOpen ? libc().open(ptr(name), O_RDWR | O_NOCTTY | O_CLOEXEC) : -1;
  if (slave < 0) {
    closeDescriptor(master);
    return undefined;
  }
  return { master, slave, path: new TextDecoder().decode(name.subarray(0, name.indexOf(0))) };
}
