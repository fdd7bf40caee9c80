// Decides whether several tasks are shown as a list. The caller checks the terminal.
import { countLongRunning } from "../../tasks/long-running.ts";
import type { ScriptTask, TaskRequest } from "../../tasks/task.ts";

type ListRequest = Pick<
  TaskRequest,
  "elideLines" | "env" | "logPrefix" | "output" | "sequential" | "ui" | "watcher"
>;

type ListCandidate = Pick<ScriptTask, "scriptName" | "rule" | "isDependency">;

/** Whether the list is requested, or several tasks would run until they are stopped. */
export function wantsList(tasks: readonly ListCandidate[], request: ListRequest): boolean {
  const { elideLines, env, logPrefix, output, sequential, ui, watcher } = request;
  if (tasks.length < 2 || output !== undefined || logPrefix !== undefined || ui === "stream") return false;
  // The list reads the keyboard, which an interactive task needs.
  if (tasks.some(({ rule }) => rule?.interactive)) return false;
  if (ui === "list") return true;
  // Screen readers cannot read a screen that is redrawn; rt run --pick reads the same variable.
  if (env.ACCESSIBLE || sequential || elideLines !== undefined || watcher) return false;
  return countLongRunning(tasks) > 0;
}
