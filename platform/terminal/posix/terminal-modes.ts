// A terminal's modes, size and owner, and a terminal of rt's own: C's functions for them.
//
// Contract: numbers of errors are not told, since a terminal that is gone is told by what is read from it. `struct termios`
// is C's affair but for the few words that are looked at; `constants.ts` says where they stand.
import { constants } from "../../native/posix/constants.ts";
import { FFIType, ptr } from "../../native/posix/ffi.ts";
import { encodeCString, libc, type Libc, openLibc, repeat, VARIABLE } from "../../native/posix/libc.ts";
import { closeDescriptor } from "../../native/posix/pipe.ts";

const { i32, u64, ptr: pointer } = FFIType;

const SYMBOLS = {
  cfmakeraw: { args: [pointer], returns: i32 },
  fcntl: { args: [i32, i32, ...VARIABLE], returns: i32 },
  getpgrp: { args: [], returns: i32 },
  grantpt: { args: [i32], returns: i32 },
  ioctl: { args: [i32, u64, ...VARIABLE], returns: i32 },
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

/** Larger than any system's `struct termios`. */
const MODES_SIZE = 256;
export type TerminalModes = Uint8Array;

export function modesOf(descriptor: number): TerminalModes | null {
  const modes = new Uint8Array(MODES_SIZE);
  return terminalLibc().tcgetattr(descriptor, ptr(modes)) === 0 ? modes : null;
}

export function setModes(descriptor: number, modes: TerminalModes): void {
  terminalLibc().tcsetattr(descriptor, NOW, ptr(modes));
}

/** Every byte goes through as it is, both ways. */
export function madeRaw(modes: TerminalModes): TerminalModes {
  const raw = modes.slice();
  terminalLibc().cfmakeraw(ptr(raw));
  return raw;
}

const OPOST = 1;
const ECHO = 0o10;
const VSUSP = 10;

function word(modes: TerminalModes, place: number): number {
  return new DataView(modes.buffer, modes.byteOffset).getUint32(place, true);
}

/** Whether line ends and the like are changed on the way out. */
export function changesOutput(modes: TerminalModes): boolean {
  return (word(modes, TERMIOS_OFLAG) & OPOST) !== 0;
}

export function withOutputChanged(modes: TerminalModes, isChanged: boolean): TerminalModes {
  const changed = modes.slice();
  const flags = word(modes, TERMIOS_OFLAG);
  new DataView(changed.buffer).setUint32(TERMIOS_OFLAG, isChanged ? flags | OPOST : flags & ~OPOST, true);
  return changed;
}

/** The byte that stops a job; undefined where no byte does. */
export function suspendKey(modes: TerminalModes): number | undefined {
  return keyAt(modes, VSUSP);
}

/** The bytes that end a job, and what it is told by them. */
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

/** Whether such a byte is shown, as ^Z. */
export function showsKeys(modes: TerminalModes): boolean {
  const flags = word(modes, TERMIOS_LFLAG);
  return (flags & ECHO) !== 0 && (flags & constants.ECHOCTL) !== 0;
}

/** Rows, columns and pixels, as the system has them; null where there are none. */
export function sizeOf(descriptor: number): Uint16Array | null {
  const size = new Uint16Array(4);
  return terminalLibc().ioctl(descriptor, constants.TIOCGWINSZ, ...repeat(ptr(size))) === 0 ? size : null;
}

/** The system tells the program there of it. */
export function setSize(descriptor: number, size: Uint16Array): void {
  terminalLibc().ioctl(descriptor, constants.TIOCSWINSZ, ...repeat(ptr(size)));
}

/** The group of processes that a terminal belongs to at the moment; -1 where it is none of ours. */
export function foregroundOf(descriptor: number): number {
  return terminalLibc().tcgetpgrp(descriptor);
}

/** Whether another job of the shell has the terminal. */
export function isInBackground(descriptor: number): boolean {
  const group = foregroundOf(descriptor);
  return group > 0 && group !== terminalLibc().getpgrp();
}

/**
 * The terminal that rt is on, opened anew so that nobody else's descriptor stops waiting; -1 where it cannot be. To be
 * closed by who asked for it.
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
  /** Reading and writing never wait. */
  readonly master: number;
  readonly slave: number;
  /** Of the slave. */
  readonly path: string;
}

/** Both ends are rt's alone, and to be closed by who asked for them; undefined where there are no more terminals. */
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
