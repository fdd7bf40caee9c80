// Matches changes with the `inputs` of services in watch mode.
import type { Matcher } from "../../cache/key/rule-globs.ts";
import type { ScriptTask } from "../../tasks/task.ts";

/** The matcher of each service that has `inputs`. */
export type ServiceInputs = ReadonlyMap<ScriptTask, Matcher>;

export async function readServiceInputs(tasks: readonly ScriptTask[]): Promise<ServiceInputs> {
  const services = tasks.filter(({ rule }) => rule?.service && rule.inputs);
  if (services.length === 0) return new Map();
  // A run without services does not load the code of the cache.
  const { matcher } = await import("../../cache/key/rule-globs.ts");
  return new Map(services.map((task) => [task, matcher(task.rule!.inputs!, task.packageDirectory)]));
}
