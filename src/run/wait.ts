// Runs a hook, or a script that has something after it, and waits for it.
//
// The child stays in rt's process group, so that it can use the terminal. From a terminal, Ctrl-C reaches it
// without us; a signal that was sent to rt alone is passed on. rt itself must outlive the child to tell how
// it ended.
import { host } from "../../platform/process.ts";
import type { Ending } from "./launch.ts";
import type { Step } from "./step.ts";

const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export async function waitForStep({ shell, environment }: Step): Promise<Ending> {
  const { program, argv } = shell;
  // The built-in shell is reached through rt's own `exec` command, which switches roles without a trace.
  const env = definedOnly({ ...host.originalEnvironment(), ...environment, ...shell.environment });
  const child = Bun.spawn([program, ...argv.slice(1)], {
    argv0: argv[0],
    env,
    stdin: "inherit",
    stdout: "inherit",
    stderr: "inherit",
  });
  const forward = (signal: NodeJS.Signals) => {
    if (signal === "SIGINT" && host.isTerminal(0)) return;
    child.kill(signal);
  };
  for (const signal of FORWARDED) process.on(signal, forward);
  await child.exited;
  for (const signal of FORWARDED) process.off(signal, forward);
  const signal = child.signalCode as NodeJS.Signals | null;
  return signal ? { signal } : (child.exitCode ?? 1);
}

function definedOnly(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
