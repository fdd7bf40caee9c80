// Runs a hook, or a script that has something after it, and waits for it.
//
// The child stays in rt's process group, so that it can use the terminal. From a terminal, Ctrl-C reaches it
// without us; a signal that was sent to rt alone is passed on to everything that the child has started, and a
// second one kills. After a signal nothing more is started: a child that made a success of it counts as ended by
// the signal, and one with an exit code of its own keeps it. rt itself must outlive the child to tell.
import { host } from "../../platform/process.ts";
import { trees } from "../../platform/process-tree.ts";
import type { Child } from "../../platform/process-tree-operations.ts";
import type { Ending } from "./launch.ts";
import type { Step } from "./step.ts";

const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** @param descriptors what the child inherits beyond the standard three */
export async function waitForStep(
  { shell, environment }: Step,
  descriptors: readonly number[],
): Promise<Ending> {
  let child: Child | undefined;
  let received: (typeof FORWARDED)[number] | undefined;
  // Before the child starts: what it writes first may be what somebody waits for to send a signal.
  const stops = host.heeded(FORWARDED).map((signal) => {
    const stop = () => {
      const isFromTerminal = signal === "SIGINT" && trees.terminalSignalsInherited && host.isTerminal(0);
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
  const { code, signal } = await child.done;
  for (const remove of stops) remove();
  if (signal) return { signal: signal as NodeJS.Signals };
  return received && code === 0 ? { signal: received } : code;
}
