// Where a signal is passed on, while rt waits for a hook or a script (step-wait.ts) in its own process group.
//
//   from the terminal (Ctrl-C)   the script has it already: rt takes a note
//   sent to rt alone             to everything that the script has started
//   a second one                 kills all of that
//   QUIT, USR1, USR2             to the script alone, where rt is the first process of a container; elsewhere they are rt's own
//
// What rt was started to ignore it ignores, and so does the script. Runs of many scripts and --watch have trees of other
// kinds and listen by themselves: src/reporters, src/watch.
//
// Surprising: the engine's handler only takes a note of a signal, which its event loop passes on some time later. What
// came before the child was there would seem to have reached it from the terminal, and what came as it ended would be
// forgotten, and the next step started in spite of it. Both are waited for: see `turnLoop`. And it does not say who sent a
// signal: an INT to rt alone, on a terminal, is taken for Ctrl-C.
import { host } from "../../../platform/processes/process.ts";
import { trees } from "../../../platform/processes/process-tree.ts";
import type { Child } from "../../../platform/processes/contract/process-tree.ts";

const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
type Forwarded = (typeof FORWARDED)[number];

/** Where rt is the first process of a container, these are meant for the program too, which may do anything with them. */
const PASSED_ON = ["SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;
const HEEDED = process.pid === 1 ? [...FORWARDED, ...PASSED_ON] : FORWARDED;
const FROM_TERMINAL = ["SIGINT", "SIGQUIT"];

function isPassedOn(signal: NodeJS.Signals): signal is (typeof PASSED_ON)[number] {
  return PASSED_ON.some((each) => each === signal);
}

export interface SignalForwarder {
  /** What is passed on goes to this child from here on. */
  leadTo(child: Child): void;
  /** The child has ended: what comes now ends rt. Gives the first signal that asked for an end. */
  close(): Promise<Forwarded | undefined>;
}

/** To be opened before the child starts: what it writes first may be what somebody waits for to send a signal. */
export function openSignalForwarder(): SignalForwarder {
  let child: Child | undefined;
  let received: Forwarded | undefined;
  let isUnderWay = false;
  const signals = host.handledSignals(HEEDED);
  const listeners = signals.map((signal) => {
    const hear = () => {
      const isFromTerminal =
        FROM_TERMINAL.includes(signal) && isUnderWay && trees.terminalSignalsInherited && host.isTerminal(0);
      if (isPassedOn(signal)) {
        if (child && !isFromTerminal) process.kill(child.pid, signal);
        return;
      }
      const children = child ? [child] : [];
      if (received) trees.signalTrees(children, "SIGKILL");
      else if (!isFromTerminal) trees.signalTrees(children, signal);
      received ??= signal;
    };
    process.on(signal, hear);
    return () => process.off(signal, hear);
  });
  return {
    leadTo(started) {
      child = started;
      void turnLoop().then(() => (isUnderWay = true));
    },
    async close() {
      host.restoreDefaultActions(signals);
      await turnLoop();
      for (const remove of listeners) remove();
      return received;
    },
  };
}

/** Until every signal that has been noted is told to its listeners, which happens once in a turn. */
async function turnLoop(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
