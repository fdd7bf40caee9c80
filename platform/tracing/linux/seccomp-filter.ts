// The filter's program, for the kernel: made of the table of calls.
//
// Contract: a call of the table is told to the supervisor before it runs; one that the table does not know fails as on an
// older kernel; a call of another architecture (32 bits) is told too, as a doubt; one that a interposer makes
// (../native/interposer) is told by itself, if it only looks. Everything else runs untouched.
import { type Architecture, AUDIT_ARCHITECTURES, CALLS, FIRST_UNKNOWN, HIDDEN } from "./syscalls.ts";

const LOAD_WORD = 0x20;
const AND = 0x54;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const RETURN = 0x06;

const ALLOW = 0x7fff0000;
const NOTIFY = 0x7fc00000;
const ERRNO = 0x00050000;
const ENOSYS = 38;

/** Places in `struct seccomp_data`: both processors have the low half of an argument first. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const PLACE = 8;
const argument = (index: number) => 16 + index * 8;

/** Where a interposer makes its calls (../native/interposer/log.h), in two halves: behind the instruction, whose size is the processor's. */
const GATE_BELOW = 0x52540000;
const GATE_ABOVE = 0x20;
const AFTER_GATE: Readonly<Record<Architecture, number>> = { x64: GATE_BELOW + 2, arm64: GATE_BELOW + 4 };
/** What it calls there, and openat. */
const TOLD = ["newfstatat", "statx", "faccessat"];
/** Of openat's flags: without these it only looks. */
const O_ACCMODE_CREAT_TRUNC = 0o1103;

const AF_UNIX = 1;
const AF_NETLINK = 16;
const SOCK_TYPE_MASK = 0xf;
const SOCK_DGRAM = 2;

interface BpfInstruction {
  readonly code: number;
  readonly value: number;
  /** Names of places, or nothing for the next instruction. */
  readonly yes?: string;
  readonly no?: string;
  readonly place?: string;
}

function listInstructions(architecture: Architecture): BpfInstruction[] {
  const numbers = CALLS.filter(({ special }) => special !== "socket")
    .map((call) => call[architecture])
    .filter((number) => number >= 0);
  const numberOf = (wanted: string) => CALLS.find(({ name }) => name === wanted)![architecture];
  const socket = numberOf("socket");
  return [
    { code: LOAD_WORD, value: ARCHITECTURE },
    { code: JUMP_EQUAL, value: AUDIT_ARCHITECTURES[architecture], no: "notify" },
    { code: LOAD_WORD, value: PLACE },
    { code: JUMP_EQUAL, value: AFTER_GATE[architecture], no: "others" },
    { code: LOAD_WORD, value: PLACE + 4 },
    { code: JUMP_EQUAL, value: GATE_ABOVE, no: "others" },
    { code: LOAD_WORD, value: NUMBER },
    ...TOLD.map((name) => ({ code: JUMP_EQUAL, value: numberOf(name), yes: "allow" })),
    { code: JUMP_EQUAL, value: numberOf("openat"), no: "others" },
    { code: LOAD_WORD, value: argument(2) },
    { code: AND, value: O_ACCMODE_CREAT_TRUNC },
    { code: JUMP_EQUAL, value: 0, yes: "allow" },
    { code: LOAD_WORD, value: NUMBER, place: "others" },
    { code: JUMP_AT_LEAST, value: FIRST_UNKNOWN, yes: "absent" },
    ...HIDDEN.map((call) => ({ code: JUMP_EQUAL, value: call[architecture], yes: "absent" })),
    ...numbers.map((value) => ({ code: JUMP_EQUAL, value, yes: "notify" })),
    { code: JUMP_EQUAL, value: socket, no: "allow" },
    { code: LOAD_WORD, value: argument(0) },
    { code: JUMP_EQUAL, value: AF_NETLINK, yes: "allow" },
    { code: JUMP_EQUAL, value: AF_UNIX, no: "notify" },
    { code: LOAD_WORD, value: argument(1) },
    { code: AND, value: SOCK_TYPE_MASK },
    // It may send to any address without having connected.
    { code: JUMP_EQUAL, value: SOCK_DGRAM, yes: "notify" },
    { code: RETURN, value: ALLOW, place: "allow" },
    { code: RETURN, value: NOTIFY, place: "notify" },
    { code: RETURN, value: ERRNO | ENOSYS, place: "absent" },
  ];
}

/** An array of `struct sock_filter`. */
export function filterProgram(architecture: Architecture): ArrayBuffer {
  const instructions = listInstructions(architecture);
  const places = new Map(instructions.map(({ place }, index) => [place, index]));
  const bytes = new ArrayBuffer(instructions.length * 8);
  const view = new DataView(bytes);
  for (const [index, { code, value, yes, no }] of instructions.entries()) {
    const distance = (place: string | undefined) =>
      place === undefined ? 0 : places.get(place)! - index - 1;
    if (distance(yes) > 255 || distance(no) > 255) throw new Error("the filter has become too long");
    view.setUint16(index * 8, code, true);
    view.setUint8(index * 8 + 2, distance(yes));
    view.setUint8(index * 8 + 3, distance(no));
    view.setUint32(index * 8 + 4, value >>> 0, true);
  }
  return bytes;
}
