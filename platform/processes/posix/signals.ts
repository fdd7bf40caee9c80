// What this process does about signals, as libc has it: what it was started to ignore, what is to end it, and being
// stopped by the terminal's Ctrl-Z from within a handler that had something to do first.
import { FFIType, ptr, read } from "../../native/posix/ffi.ts";
import type { ProcessOperations } from "../contract/process.ts";
import { constants } from "../../native/posix/constants.ts";
import { type Libc, openLibc, processLibc } from "../../native/posix/libc.ts";

const SIG_DFL = null;
const SIG_IGN = 1;
/** `struct sigaction` begins with the handler on every system, and is nowhere larger than this. */
const SIGACTION_SIZE = 256;

const { i32, ptr: pointer } = FFIType;
const ASKING = { sigaction: { args: [i32, pointer, pointer], returns: i32 } } as const;

const NUMBERS: Partial<Record<NodeJS.Signals, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGTERM: 15,
  SIGTSTP: constants.SIGTSTP,
  SIGUSR1: constants.SIGUSR1,
  SIGUSR2: constants.SIGUSR2,
};

/** The module that knows them all takes longer to load than anything that is done with one. */
function numberOf(signal: NodeJS.Signals): number {
  return NUMBERS[signal] ?? process.getBuiltinModule("node:os").constants.signals[signal];
}

let asking: Libc<typeof ASKING>["functions"] | undefined;

export const isHandledByRt: ProcessOperations["heeded"] = (signals) => {
  asking ??= openLibc(ASKING).functions;
  const { sigaction } = asking;
  const action = new Uint8Array(SIGACTION_SIZE);
  return signals.filter((signal) => {
    sigaction(numberOf(signal), null, ptr(action));
    return read.ptr(ptr(action), 0) !== SIG_IGN;
  });
};

export const stopHeeding: ProcessOperations["stopHeeding"] = (signals) => {
  for (const signal of signals) processLibc().signal(numberOf(signal), SIG_DFL);
};

/** Returns when something has continued this process, or at once where nothing could. */
export function stopLikeTerminal(): void {
  stopBy(() => processLibc().raise(numberOf("SIGTSTP")));
}

/** The same for all of this process's group, as the terminal's Ctrl-Z does it. */
export function stopJob(): void {
  stopBy(() => process.kill(0, "SIGTSTP"));
}

function stopBy(send: () => void): void {
  const number = numberOf("SIGTSTP");
  const handler = processLibc().signal(number, SIG_DFL);
  send();
  processLibc().signal(number, handler);
}

/** Undefined for those that have none. */
export function nameOfSignal(number: number): NodeJS.Signals | undefined {
  const { signals } = process.getBuiltinModule("node:os").constants;
  return (Object.keys(signals) as NodeJS.Signals[]).find((name) => signals[name] === number);
}
