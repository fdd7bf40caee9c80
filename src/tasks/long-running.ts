// Finds the tasks that run until they are stopped, as servers and watchers do: by the name of the script, or because
// they are services.
import type { ScriptTask } from "./task.ts";

/** Names of scripts that usually run until they are stopped. */
const LONG_RUNNING = /^(?:dev|preview|serve|start|watch)(?:$|[:.-])/;

type TaskCandidate = Pick<ScriptTask, "scriptName" | "rule" | "isDependency">;

/** Counts the tasks that run until they are stopped. Returns 0 if the run ends by itself, or if there is only one. */
export function countLongRunning(tasks: readonly TaskCandidate[]): number {
  const found = tasks.filter(({ scriptName, rule }) => rule?.service || LONG_RUNNING.test(scriptName));
  // Services that only dependents need end with these.
  const isEndless = found.some(({ rule, isDependency }) => !(rule?.service && isDependency));
  return isEndless && found.length > 1 ? found.length : 0;
}
