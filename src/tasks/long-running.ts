// Finds the tasks that run until they are stopped, as servers and watchers do: by the name of the script, or because
// they are services.
import type { ScriptTask } from "./task.ts";

/** Names of scripts that usually run until they are stopped. */
const LONG_RUNNING = /^(?:dev|preview|serve|start|watch)(?:$|[:.-])/;

type TaskCandidate = Pick<ScriptTask, "scriptName" | "rule" | "isDependency">;

/** Whether several tasks run until they are stopped, so that the run does not end by itself. */
export function areLongRunning(tasks: readonly TaskCandidate[]): boolean {
  const found = tasks.filter(({ scriptName, rule }) => rule?.service || LONG_RUNNING.test(scriptName));
  // Services that only dependents need end with these.
  return found.length > 1 && found.some(({ rule, isDependency }) => !(rule?.service && isDependency));
}
