// Converts a single script to a task, if it is cached or runs remotely.
import { host } from "../../platform/processes/process.ts";
import type { ScriptTask } from "../tasks/task.ts";
import { stepsOf } from "../workspace/package-json.ts";
import type { ScriptPlan } from "./plan.ts";

export function taskOf({ target, args }: ScriptPlan): ScriptTask {
  const { name, package: located } = target;
  return {
    index: 0,
    packageName: "",
    packageDirectory: located.directory,
    manifest: located.manifest,
    scriptName: name,
    label: name,
    steps: stepsOf(located.manifest, name),
    args: host.exactArguments(args),
  };
}
