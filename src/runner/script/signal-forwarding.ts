// Signal forwarding while rt waits for a hook or script in its own process group (step-wait.ts).
//
// - Ctrl-C of the terminal: not forwarded, because the script has received it.
// - INT, TERM, HUP sent to rt alone: forwarded to the script's process tree.
// - A second one of these signals: SIGKILL to the process tree.
// - QUIT, USR1, USR2: forwarded to the script only, if rt is process 1.
//
// Invariants: signals that rt was started to ignore are not handled. Runs of many scripts
// (src/tasks/execution/shutdown.ts) and --watch (src/runner/watch) have handlers of their own.
//
// Non-obvious: the engine delivers signals a turn later, so signals before the child's start and at its end are
// awaited (`awaitSignalDelivery`). The sender is unknown: an INT to rt alone on a terminal counts as Ctrl-C.
import { host } from "../../../platform/processes/process.ts";
import { trees } from "../../../platform/processes/process-tree.ts";
import type { Child } from "../../../platform/processes/contract/process-tree.ts";

const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
type Forwarded = (typeof FORWARDED)[number];

/** As process 1 of a container, rt forwards these too, because they are meant for the program. */
const PASSED_ON = ["SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;
const HANDLED = process.pid === 1 ? [...FORWARDED, ...PASSED_ON] : FORWARDED;
const FROM_TERMINAL = ["SIGINT", "SIGQUIT"];

function isPassedOn(signal: NodeJS.Signals): signal is (typeof PASSED_ON)[number] {
  return PASSED_ON.some((each) => each === signal);
}

export interface SignalForwarder {
  forwardTo(child: Child): void;
  /** Stops forwarding, because the child has ended. Returns the first INT, TERM or HUP. */
  close(): Promise<Forwarded | undefined>;
}

/** Opened before the child starts, because its first output may trigger a signal. */
export function openSignalForwarder(): SignalForwarder {
  let child: Child | undefined;
  let received: Forwarded | undefined;
  let hasStarted = false;
  const signals = host.handledSignals(HANDLED);
  const listeners = signals.map((signal) => {
    const onSignal = () => {
      const isFromTerminal =
        FROM_TERMINAL.includes(signal) && hasStarted && trees.terminalSignalsInherited && host.isTerminal(0);
      if (isPassedOn(signal)) {
        if (child && !isFromTerminal) process.kill(child.pid, signal);
        return;
      }
      const children = child ? [child] : [];
      if (received) trees.signalTrees(children, "SIGKILL");
      else if (!isFromTerminal) trees.signalTrees(children, signal);
      received ??= signal;
    };
    process.on(signal, onSignal);
    return () => process.off(signal, onSignal);
  });
  return {
    forwardTo(started) {
      child = started;
      void awaitSignalDelivery().then(() => (hasStarted = true));
    },
    async close() {
      host.restoreDefaultActions(signals);
      await awaitSignalDelivery();
      for (const remove of listeners) remove();
      return received;
    },
  };
}

/** Resolves after pending signals have been delivered to their listeners, which happens once in a turn. */
async function awaitSignalDelivery(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
