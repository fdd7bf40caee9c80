// Generates the syscall filter (seccomp-BPF) from the syscall table.
//
// Invariants:
// - Calls of the table are notified to the supervisor, and so are calls of another architecture (32 bits).
// - Calls that are newer than the table fail with ENOSYS, as on an older kernel.
// - All other calls run without a notification.
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

/** Offsets in `struct seccomp_data`. Both processors are little-endian, so the low half of an argument is first. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const argument = (index: number) => 16 + index * 8;

const AF_UNIX = 1;
const AF_NETLINK = 16;
const SOCK_TYPE_MASK = 0xf;
const SOCK_DGRAM = 2;

interface BpfInstruction {
  readonly code: number;
  readonly value: number;
  /** Jump labels; undefined for the next instruction. */
  readonly yes?: string;
  readonly no?: string;
  readonly label?: string;
}

function listInstructions(architecture: Architecture): BpfInstruction[] {
  const numbers = CALLS.filter(({ special }) => special !== "socket")
    .map((call) => call[architecture])
    .filter((number) => number >= 0);
  const socket = CALLS.find(({ special }) => special === "socket")![architecture];
  return [
    { code: LOAD_WORD, value: ARCHITECTURE },
    { code: JUMP_EQUAL, value: AUDIT_ARCHITECTURES[architecture], no: "notify" },
    { code: LOAD_WORD, value: NUMBER },
    { code: JUMP_AT_LEAST, value: FIRST_UNKNOWN, yes: "absent" },
    ...HIDDEN.map((call) => ({ code: JUMP_EQUAL, value: call[architecture], yes: "absent" })),
    ...numbers.map((value) => ({ code: JUMP_EQUAL, value, yes: "notify" })),
    { code: JUMP_EQUAL, value: socket, no: "allow" },
    { code: LOAD_WORD, value: argument(0) },
    { code: JUMP_EQUAL, value: AF_NETLINK, yes: "allow" },
    { code: JUMP_EQUAL, value: AF_UNIX, no: "notify" },
    { code: LOAD_WORD, value: argument(1) },
    { code: AND, value: SOCK_TYPE_MASK },
    // A datagram socket may send to any address without connect.
    { code: JUMP_EQUAL, value: SOCK_DGRAM, yes: "notify" },
    { code: RETURN, value: ALLOW, label: "allow" },
    { code: RETURN, value: NOTIFY, label: "notify" },
    { code: RETURN, value: ERRNO | ENOSYS, label: "absent" },
  ];
}

/** Returns an array of `struct sock_filter`. */
export function filterProgram(architecture: Architecture): ArrayBuffer {
  const instructions = listInstructions(architecture);
  const labels = new Map(instructions.map(({ label }, index) => [label, index]));
  const bytes = new ArrayBuffer(instructions.length * 8);
  const view = new DataView(bytes);
  for (const [index, { code, value, yes, no }] of instructions.entries()) {
    const distance = (label: string | undefined) =>
      label === undefined ? 0 : labels.get(label)! - index - 1;
    if (distance(yes) > 255 || distance(no) > 255) throw new Error("the filter has become too long");
    view.setUint16(index * 8, code, true);
    view.setUint8(index * 8 + 2, distance(yes));
    view.setUint8(index * 8 + 3, distance(no));
    view.setUint32(index * 8 + 4, value >>> 0, true);
  }
  return bytes;
}
