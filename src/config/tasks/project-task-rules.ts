// Opens [tasks] of the root project. It is apart from project-tasks.ts, because a plan must not load the tables of all keys and
// options a second time: they take milliseconds.
import { mentionsInConfig } from "../config-file-name.ts";
import { findRootConfig } from "../root-config.ts";
import { readOwnConfig } from "../rtfig.ts";
import { readTaskRules, type TaskRules } from "./task-rules.ts";

/** Returns undefined without [tasks]. @param report prints warnings @throws UserError */
export function openTaskRules(cwd: string, report?: (line: string) => void): TaskRules | undefined {
  if (!mentionsInConfig(cwd, "tasks")) return undefined;
  const config = findRootConfig(readOwnConfig(), cwd, report);
  return config && readTaskRules(config, cwd);
}
