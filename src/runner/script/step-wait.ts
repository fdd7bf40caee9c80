// Runs a hook, or a script that has something after it, and waits for it.
//
// The child stays in rt's process group, so that it can use the terminal; what signals do meanwhile is in signal-forwarding.ts. After a
// signal nothing more is started: a child that made a success of it counts as ended by the signal, unless nothing was left
// to be done, and one with an exit code of its own keeps it. rt itself must outlive the child to tell.
import { host } from "../../../platform/processes/process.ts";
import { trees } from "../../../platform/processes/process-tree.ts";
import type { PreparedStep } from "./step-preparation.ts";
import { openSignalForwarder } from "./signal-forwarding.ts";

/** How a child ended, to be passed on by main: an exit code or a signal to die of. */
export type ExitStatus = number | { readonly signal: NodeJS.Signals };

/** What comes after a step: another one, another program in rt's place, or rt's own end. */
export type Next = "step" | "replacement" | "end";

/** Each where it is. */
function inPlaces(descriptors: readonly number[]): (number | undefined)[] {
  const count = Math.max(2, ...descriptors) - 2;
  return Array.from({ length: count }, (_, index) =>
    descriptors.includes(index + 3) ? index + 3 : undefined,
  );
}

/** @param descriptors what the child inherits beyond the standard three, in the same places */
export async function waitForStep(
  { shell, environment }: Pick<PreparedStep, "shell" | "environment">,
  descriptors: readonly number[],
  next: Next,
): Promise<ExitStatus> {
  const passage = openSignalForwarder();
  const child = trees.startChild({
    program: shell.program,
    argv: shell.argv,
    cwd: process.cwd(),
    // The built-in shell is reached through rt's own `exec` command, which switches roles without a trace.
    env: { ...host.originalEnvironment(), ...environment, ...shell.environment },
    output: "inherit",
    inheritStdin: true,
    descriptors: inPlaces(descriptors),
    onOutput() {},
  });
  passage.leadTo(child);
  const { code, signal } = await child.done;
  const [received] = await Promise.all([passage.close(), next === "replacement" && trees.prepareExec()]);
  if (signal) return { signal: signal as NodeJS.Signals };
  return received && code === 0 && next !== "end" ? { signal: received } : code;
}
