// Formats names, outcomes, exits and durations for all reporters.
//
// Invariants: text from package.json or the system is made printable (src/printable.ts).
import type { ChildExit } from "../../platform/processes/contract/process-tree.ts";
import { oneLine, printable } from "../printable.ts";
import type { TaskOutcome, ScriptTask, TaskRequest } from "./task.ts";
import type { Placement } from "./execution/placement.ts";

/** `web build`, `web:build` or `build`. */
export function labelOf({ label }: Pick<ScriptTask, "label">): string {
  return printable(label);
}

/** `PKG SCRIPT`; without a workspace the script alone. */
export function nameScript({ packageName }: Pick<ScriptTask, "packageName">, scriptName: string): string {
  return printable(packageName === "" ? scriptName : `${packageName} ${scriptName}`);
}

/** The title of a run: the command line without the scripts' arguments. */
export function titleOf({
  scripts,
  filters,
  quote,
}: Pick<TaskRequest, "scripts" | "filters" | "quote">): string {
  const words = [...filters.flatMap((filter) => ["--filter", filter]), ...scripts];
  return oneLine(["rt run", ...words.map(quote)].join(" "));
}

/** `web#build`, or `build` without a workspace: the name that rtfig.toml uses. */
export function taskNameOf({
  packageName,
  scriptName,
}: Pick<ScriptTask, "packageName" | "scriptName">): string {
  return printable(packageName === "" ? scriptName : `${packageName}#${scriptName}`);
}

/**
 * How many scripts of a plan would run. @param needless number of cache hits @param unneeded number of services that
 * would not start
 */
export function describeCount(all: number, needless: number, unneeded = 0): string {
  const count = all === 1 ? "1 script" : `${all} scripts`;
  if (unneeded > 0)
    return `${all - needless - unneeded} of ${count} would run (${needless} cached, ${unneeded} not needed)`;
  if (needless === 0) return `${count} would run`;
  if (needless === all) return `${count} cached`;
  return `${all - needless} of ${count} would run (${needless} cached)`;
}

/** The label of a cached task. @param machine the machine that ran it in the same shared run */
export function describeSaved(saved: number, machine?: string): string {
  const source = machine === undefined ? "Cached" : `Ran on ${oneLine(machine)}`;
  return `${source} (saved ${formatDuration(saved)})`;
}

export function describeCacheReason(isHit: boolean, why: string): string {
  return `cache ${isHit ? "hit" : "miss"}: ${oneLine(why)}`;
}

/** `here: ...`, or `on worker-3 of grpc://...: ...`. */
export function describePlacement({ place, server, machine, why }: Placement): string {
  if (place !== "remote") return `here: ${oneLine(why)}`;
  const name = machine === undefined ? "" : `${oneLine(machine)} of `;
  return `on ${name}${server}: ${oneLine(why)}`;
}

/** Formats a child's exit. With `duration`, a success shows the duration instead of the code. */
export function describeExit({ code, signal }: ChildExit, duration: string | null): string {
  if (signal !== null) return `Killed by ${signal}`;
  return code === 0 && duration !== null ? `Done in ${duration}` : `Exited with code ${code}`;
}

/** ` (flaky: succeeded at attempt 2)`; "" for a task that succeeded at once. */
export function describeRetries({ retries = 0 }: Extract<TaskOutcome, { kind: "success" }>): string {
  return retries === 0 ? "" : ` (flaky: succeeded at attempt ${retries + 1})`;
}

export function describeOutcome(outcome: TaskOutcome): string {
  switch (outcome.kind) {
    case "success":
      if (outcome.isStopped) return "Stopped";
      if (outcome.isUnneeded) return "Not needed";
      if (outcome.saved !== undefined) return describeSaved(outcome.saved, outcome.machine);
      return `Done${describeRetries(outcome)}`;
    case "failure":
      if (outcome.reason !== undefined) return oneLine(outcome.reason);
      return outcome.timeout === undefined
        ? `Exited with code ${outcome.code}`
        : `Timed out after ${oneLine(outcome.timeout)}`;
    case "signal":
      return `Killed by ${outcome.signal}`;
    case "unstartable":
      return `Cannot start: ${oneLine(outcome.reason)}`;
    case "skipped":
      return `Skipped because ${labelOf(outcome.because)} did not succeed`;
    case "stopped":
      if (outcome.because) return `Stopped because ${labelOf(outcome.because)} did not run any more`;
      return outcome.wasRunning ? "Stopped" : "Not started";
  }
}

export function isFailure({ kind }: TaskOutcome): boolean {
  return kind === "failure" || kind === "signal" || kind === "unstartable";
}

/** `milliseconds` as `7 ms`, `1.24 s` or `2 min 5 s`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 59_995) return `${(milliseconds / 1000).toFixed(2)} s`;
  const seconds = Math.round(milliseconds / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
