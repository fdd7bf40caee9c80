// Signal dispositions of this process through libc: inherited ignored signals, default actions, and stopping as Ctrl-Z does.
import { FFIType, ptr, read } from "../../native/posix/ffi.ts";
import type { ProcessOperations } from "../contract/process.ts";
import { constants } from "../../native/posix/constants.ts";
import { type Libc, openLibc, processLibc } from "../../native/posix/libc.ts";

const SIG_DFL = null;
const SIG_IGN = 1;
/** An upper bound; `struct sigaction` begins with the handler on every system. */
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

/** A literal table: loading node:os takes longer. */
function numberOf(signal: NodeJS.Signals): number {
  return NUMBERS[signal] ?? process.getBuiltinModule("node:os").constants.signals[signal];
}

let asking: Libc<typeof ASKING>["functions"] | undefined;

export const isHandledByRt: ProcessOperations["handledSignals"] = (signals) => {
  asking ??= openLibc(ASKING).functions;
  const { sigaction } = asking;
  const action = new Uint8Array(SIGACTION_SIZE);
  return signals.filter((signal) => {
    sigaction(numberOf(signal), null, ptr(action));
    return read.ptr(ptr(action), 0) !== SIG_IGN;
  });
};

export const restoreDefaultActions: ProcessOperations["restoreDefaultActions"] = (signals) => {
  for (const signal of signals) processLibc().signal(numberOf(signal), SIG_DFL);
};

/** Returns when the process has been continued, or at once if it cannot be stopped. */
export function stopLikeTerminal(): void {
  stopBy(() => processLibc().raise(numberOf("SIGTSTP")));
}

/** Stops the whole process group, as Ctrl-Z does. */
export function stopJob(): void {
  stopBy(() => process.kill(0, "SIGTSTP"));
}

function stopBy(send: () => void): void {
  const number = numberOf("SIGTSTP");
  const handler = processLibc().signal(number, SIG_DFL);
  send();
  processLibc().signal(number, handler);
}

export function nameOfSignal(number: number): NodeJS.Signals | undefined {
  const { signals } = process.getBuiltinModule("node:os").constants;
  return (Object.keys(signals) as NodeJS.Signals[]).find((name) => signals[name] === number);
}
