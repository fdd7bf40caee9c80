// Runs a step that is followed by another, and waits for it.
//
// Invariants:
// - The child stays in rt's process group, so that it can use the terminal (signals: signal-forwarding.ts).
// - After a signal no further step starts. A child that then exits with 0 counts as ended by the signal, unless it
//   was the last step; another exit code is kept.
import { host } from "../../../platform/processes/process.ts";
import { trees } from "../../../platform/processes/process-tree.ts";
import type { PreparedStep } from "./step-preparation.ts";
import { openSignalForwarder } from "./signal-forwarding.ts";

/** An exit code, or the signal that rt ends by. */
export type ExitStatus = number | { readonly signal: NodeJS.Signals };

/** The continuation of a step: another one, a program that replaces rt, or rt's exit. */
export type Next = "step" | "replacement" | "end";

/** Maps each descriptor to the same number. */
function inPlaces(descriptors: readonly number[]): (number | undefined)[] {
  const count = Math.max(2, ...descriptors) - 2;
  return Array.from({ length: count }, (_, index) =>
    descriptors.includes(index + 3) ? index + 3 : undefined,
  );
}

/** @param descriptors inherited beyond the standard three, with the same numbers */
export async function waitForStep(
  { shell, environment }: Pick<PreparedStep, "shell" | "environment">,
  descriptors: readonly number[],
  next: Next,
): Promise<ExitStatus> {
  const forwarder = openSignalForwarder();
  const child = trees.startChild({
    program: shell.program,
    argv: shell.argv,
    cwd: process.cwd(),
    engine: shell.engine,
    env: { ...host.originalEnvironment(), ...environment, ...shell.environment },
    output: "inherit",
    inheritStdin: true,
    descriptors: inPlaces(descriptors),
    onOutput() {},
  });
  forwarder.forwardTo(child);
  const { code, signal } = await child.done;
  const [received] = await Promise.all([forwarder.close(), next === "replacement" && trees.prepareExec()]);
  if (signal) return { signal: signal as NodeJS.Signals };
  return received && code === 0 && next !== "end" ? { signal: received } : code;
}
