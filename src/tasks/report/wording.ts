// How outcomes, exits and times are said, once for all reporters.
import type { ChildExit } from "../../../platform/contract/process-tree.ts";
import type { Outcome } from "../event.ts";

/** `PKG SCRIPT`; without a workspace the script alone. */
export function nameScript({ packageName }: { readonly packageName: string }, scriptName: string): string {
  return packageName === "" ? scriptName : `${packageName} ${scriptName}`;
}

/** With `duration`, a success is told by it; without, by its code. */
export function describeExit({ code, signal }: ChildExit, duration: string | null): string {
  if (duration === null) return signal === null ? `Exited with code ${code}` : `Signaled with code ${signal}`;
  if (signal !== null) return `Signaled: ${signal}`;
  return code === 0 ? `Done in ${duration}` : `Exited with code ${code}`;
}

export function describeOutcome(outcome: Outcome): string {
  switch (outcome.kind) {
    case "success":
      return "Done";
    case "failure":
      return `Exited with code ${outcome.code}`;
    case "signal":
      return `Signaled: ${outcome.signal}`;
    case "unstartable":
      return `Cannot start: ${outcome.reason}`;
    case "skipped":
      return `Skipped because ${outcome.because.label} did not succeed`;
    case "stopped":
      return outcome.wasRunning ? "Stopped" : "Not started";
  }
}

/** `milliseconds` as `7 ms`, `1.24 s` or `2 min 5 s`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 59_995) return `${(milliseconds / 1000).toFixed(2)} s`;
  const seconds = Math.round(milliseconds / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
