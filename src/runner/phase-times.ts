// With RT_DEBUG=times, prints when a phase of a start has ended. bench/tasks/plan.ts measures planning with it.
import { host } from "../../platform/processes/process.ts";
import { reportLine } from "../output.ts";

/** Prints the milliseconds since the engine of this process started. */
export function reportPhase(name: "command line" | "plan"): void {
  if (host.originalVariable("RT_DEBUG") === "times")
    reportLine(`${name}: ${performance.now().toFixed(1)} ms`);
}
