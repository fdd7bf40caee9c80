// Encodes the syscall table for the recorder: an array of `struct row` of ../../native/linux/recorder/syscall-handlers.h.
import { ACCESSES } from "./access-kinds.ts";
import { type Architecture, type Syscall, CALLS, type PathArgument } from "./syscalls.ts";

/** `enum kind` of syscall-handlers.h. */
const KINDS = {
  ...{ incomplete: 1, paths: 2, open: 3, rename: 4 },
  ...{ socket: 5, connect: 6, bind: 7, send: 8 },
} as const;

/** Returns `enum follows`, the argument, and the bit. */
function followsOf({ follows }: PathArgument): readonly number[] {
  if (typeof follows === "boolean") return [follows ? 1 : 0, 0, 0];
  return [follows.ifSet ? 2 : 3, follows.argument, follows.bit];
}

const NONE = -1;
/** Number of integers in a `struct argument`. */
const ARGUMENT = 6;
const MAX_ARGUMENTS = 2;

function encodeCall(call: Syscall, architecture: Architecture): number[] {
  const { paths = [], open, incompleteReason, special, flags = open?.flags ?? NONE } = call;
  const kind = incompleteReason ? "incomplete" : (special ?? (open ? "open" : "paths"));
  const words = paths.flatMap((each) => [
    each.directory ?? NONE,
    each.path ?? NONE,
    ACCESSES.indexOf(each.access),
    ...followsOf(each),
  ]);
  return [
    ...[call[architecture], KINDS[kind], flags, open?.how ?? NONE, open?.always ?? NONE],
    ...[paths.length, ...words],
    ...new Array<number>(ARGUMENT * MAX_ARGUMENTS - words.length).fill(0),
  ];
}

export function encodeRows(architecture: Architecture): Int32Array {
  return Int32Array.from(CALLS.flatMap((call) => encodeCall(call, architecture)));
}
