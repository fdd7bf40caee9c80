// Runs a hook, or a script that has something after it, and waits for it.
//
// The child stays in rt's process group, so that it can use the terminal. From a terminal, Ctrl-C reaches it
// without us; a signal that was sent to rt alone is passed on to everything that the child has started, and a
// second one kills. After a signal nothing more is started, whatever the child made of it. rt itself must
// outlive the child to tell how it ended.
import { host } from "../../platform/process.ts";
import { trees } from "../../platform/process-tree.ts";
import type { Ending } from "./launch.ts";
import type { Step } from "./step.ts";

const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export async function waitForStep({ shell, environment }: Step): Promise<Ending> {
  const child = trees.startChild({
    program: shell.program,
    argv: shell.argv,
    cwd: process.cwd(),
    // The built-in shell is reached through rt's own `exec` command, which switches roles without a trace.
    env: { ...host.originalEnvironment(), ...environment, ...shell.environment },
    output: "inherit",
    inheritStdin: true,
    onOutput() {},
  });
  let received: (typeof FORWARDED)[number] | undefined;
  const stops = FORWARDED.map((signal) => {
    const stop = () => {
      const isFromTerminal = signal === "SIGINT" && trees.terminalSignalsInherited && host.isTerminal(0);
      if (received) trees.signalTrees([child], "SIGKILL");
      else if (!isFromTerminal) trees.signalTrees([child], signal);
      received ??= signal;
    };
    process.on(signal, stop);
    return () => process.off(signal, stop);
  });
  const { code, signal } = await child.done;
  for (const remove of stops) remove();
  if (received) return { signal: received };
  return signal ? { signal: signal as NodeJS.Signals } : code;
}
