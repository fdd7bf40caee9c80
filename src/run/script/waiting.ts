// Runs a hook, or a script that has something after it, and waits for it.
//
// The child stays in rt's process group, so that it can use the terminal. From a terminal, Ctrl-C reaches it
// without us; a signal that was sent to rt alone is passed on to everything that the child has started, and a
// second one kills. After a signal nothing more is started: a child that made a success of it counts as ended by
// the signal, and one with an exit code of its own keeps it. rt itself must outlive the child to tell.
//
// Surprising: the engine's handler only takes a note of a signal, which its event loop passes on some time later. What
// came before the child was there would seem to have reached it from the terminal, and what came as it ended would be
// forgotten, and the next step started in spite of it. Both are waited for: see `turnLoop`.
import { host } from "../../../platform/process.ts";
import { trees } from "../../../platform/process-tree.ts";
import type { Child } from "../../../platform/contract/process-tree.ts";
import type { Ending } from "./launch.ts";
import type { Step } from "./preparation.ts";

const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Where rt is the first process of a container, these are meant for the program too, which may do anything with them. */
const PASSED_ON = ["SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;
const HEEDED = process.pid === 1 ? [...FORWARDED, ...PASSED_ON] : FORWARDED;
const FROM_TERMINAL = ["SIGINT", "SIGQUIT"];

function isPassedOn(signal: NodeJS.Signals): signal is (typeof PASSED_ON)[number] {
  return PASSED_ON.some((each) => each === signal);
}

/**
 * @param descriptors what the child inherits beyond the standard three
 * @param isLast whether another program takes rt's place next
 */
export async function waitForStep(
  { shell, environment }: Pick<Step, "shell" | "environment">,
  descriptors: readonly number[],
  isLast: boolean,
): Promise<Ending> {
  let child: Child | undefined;
  let received: (typeof FORWARDED)[number] | undefined;
  let isUnderWay = false;
  const signals = host.heeded(HEEDED);
  // Before the child starts: what it writes first may be what somebody waits for to send a signal.
  const stops = signals.map((signal) => {
    const stop = () => {
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
    process.on(signal, stop);
    return () => process.off(signal, stop);
  });
  child = trees.startChild({
    program: shell.program,
    argv: shell.argv,
    cwd: process.cwd(),
    // The built-in shell is reached through rt's own `exec` command, which switches roles without a trace.
    env: { ...host.originalEnvironment(), ...environment, ...shell.environment },
    output: "inherit",
    inheritStdin: true,
    descriptors,
    onOutput() {},
  });
  void turnLoop().then(() => (isUnderWay = true));
  const { code, signal } = await child.done;
  host.stopHeeding(signals);
  await Promise.all([turnLoop(), isLast && trees.leaveNothing()]);
  for (const remove of stops) remove();
  if (signal) return { signal: signal as NodeJS.Signals };
  return received && code === 0 ? { signal: received } : code;
}

/** Until every signal that has been noted is told to its listeners, which happens once in a turn. */
async function turnLoop(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
