// Fast path of `rt run -` and `rt -` without options. Equivalent to the full command line, or leaves the work to
// it.
//
// Non-obvious: the code does not run in this process. The engine prints source lines with errors, and for a [stdin]
// module that it has not read itself they would be transpiled lines.
import { host } from "../../../platform/processes/process.ts";
import { hasConfig } from "../file/engine-reason.ts";
import { planInputShortcut } from "../fast-path/input-shortcut.ts";
import { becomeEngine } from "./engine.ts";

/** @param words after `rt`, with the target `-`. Returns if the full command line is needed. */
export function startInput(words: readonly string[]): void {
  if (hasConfig(".") || host.originalVariable("RT_DEBUG") !== undefined) return;
  if (!host.isTerminal(0) && host.isInputEmpty()) return;
  becomeEngine(planInputShortcut(words).argv, true);
}
