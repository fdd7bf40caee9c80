// What becomes the script: rt, started by rt under another name, which takes the filter on itself, hands the listener over and
// is replaced by the program. Or, with the other word, what answers for those that a script has left behind.
//
// Contract: nothing of a user's can be mistaken for these words: they count only in a program that was started by the
// name that contract/tracing.ts has, with a socket in the place that they name. Where the filter cannot be taken nothing
// is started: no_new_privs cannot be taken back, so that the plain start needs another process.
import { FFIType, ptr } from "../../posix/ffi.ts";
import { openLibc, processLibc } from "../../posix/libc.ts";
import { operations } from "../../posix/process.ts";
import { type Architecture, SECCOMP_CALL } from "./calls.ts";
import { readByte, receiveDescriptor, sendDescriptor, socketCalls } from "./descriptor-message.ts";
import { filterProgram } from "./filter.ts";
import { answerOnly } from "./notification.ts";

export const LAUNCH = "--launch";
export const STAY = "--stay";

/** The byte with which the listener comes; any other one is the error number of a refusal. */
export const GRANTED = 0;

const PR_SET_NO_NEW_PRIVS = 38;
const SECCOMP_SET_MODE_FILTER = 1n;
const NEW_LISTENER = 8n;
/** From Linux 5.19 on. */
const WAIT_KILLABLE = 32n;
const EINVAL = 22;
const NOT_STARTED = 126;

/** Returns an exit code, if at all. */
export function launchTraced(words: readonly string[]): number {
  const [word, place = "", program = "", ...argv] = words;
  const socket = Number(place);
  if (!/^\d+$/.test(place) || socket < 3 || (word !== LAUNCH && word !== STAY)) return refuse();
  if (word === STAY) return stay(socket);
  const libc = openLibc({
    prctl: { args: [FFIType.i32, FFIType.u64, FFIType.u64, FFIType.u64, FFIType.u64], returns: FFIType.i32 },
    syscall: { args: Array.from({ length: 4 }, () => FFIType.u64), returns: FFIType.i64_fast },
  });
  const { prctl, syscall } = libc.functions;
  processLibc(); // opened before the filter is there: what follows must not be a part of the record
  sendDescriptor(-1, 0, -1);
  const instructions = filterProgram(process.arch as Architecture);
  const code = new Uint8Array(instructions);
  const header = new ArrayBuffer(16);
  const view = new DataView(header);
  view.setUint16(0, instructions.byteLength / 8, true);
  view.setBigUint64(8, BigInt(ptr(code)), true);
  const headerBytes = new Uint8Array(header);
  const number = BigInt(SECCOMP_CALL[process.arch as Architecture]);
  const install = (flags: bigint) =>
    Number(syscall(number, SECCOMP_SET_MODE_FILTER, flags, BigInt(ptr(headerBytes))));
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  let listener = install(NEW_LISTENER | WAIT_KILLABLE);
  if (listener < 0 && libc.errno() === EINVAL) listener = install(NEW_LISTENER);
  if (listener < 0) {
    sendDescriptor(socket, libc.errno() || EINVAL, -1);
    return NOT_STARTED;
  }
  const isTaken = sendDescriptor(socket, GRANTED, listener) && code.length > 0;
  socketCalls().close(listener);
  if (!isTaken || !readByte(socket)) return NOT_STARTED;
  socketCalls().close(socket);
  const failure = operations.replace({ program, argv, environment: {}, descriptors: [] });
  operations.write(2, `error: Cannot run "${program.replace(/[^ -~]/g, "?")}": ${failure}\n`);
  return failure === "ENOENT" ? 127 : NOT_STARTED;
}

function refuse(): number {
  operations.write(2, "error: This is a part of rt that only rt starts\n");
  return 2;
}

/** Until nobody is left who could ask. */
function stay(socket: number): number {
  const received = receiveDescriptor(socket);
  if (!received || received.descriptor < 0) return refuse();
  socketCalls().close(socket);
  answerOnly(received.descriptor);
  return 0;
}
