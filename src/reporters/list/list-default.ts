// Decides whether several tasks are shown as a list. The caller checks the terminal.
import type { ScriptTask, TaskRequest } from "../../tasks/task.ts";

/** Names of scripts that usually run until they are stopped. */
const LONG_RUNNING = /^(?:dev|preview|serve|start|watch)(?:$|[:.-])/;

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
  const longRunning = tasks.filter(({ scriptName, rule }) => rule?.service || LONG_RUNNING.test(scriptName));
  // Services that only dependents need end with these.
  return (
    longRunning.length > 1 && longRunning.some(({ rule, isDependency }) => !(rule?.service && isDependency))
  );
}
