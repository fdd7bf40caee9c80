// Code on standard input, without options: `rt run -` and `rt -`. It does what the whole command line would do, or leaves
// it to that. See run/input-shortcut.ts for the plan.
//
// Why not in this process: the engine prints an error with lines of the code that it has read. Of a module called [stdin]
// that it has not read itself it prints lines of its translation, and nothing but the bundler, which takes longer than all
// of this, gives a map of that.
import { host } from "../../../platform/processes/process.ts";
import { hasConfig } from "../file/engine-reason.ts";
import { planInputShortcut } from "../fast-path/input-shortcut.ts";
import { becomeEngine } from "./engine.ts";

/** @param words behind `rt`, of which the target is `-`. Comes back where it takes the whole command line. */
export function startInput(words: readonly string[]): void {
  if (hasConfig(".") || host.originalVariable("RT_DEBUG") !== undefined) return;
  if (!host.isTerminal(0) && host.isInputEmpty()) return;
  becomeEngine(planInputShortcut(words).argv, true);
}
