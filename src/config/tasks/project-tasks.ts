// Opens [tasks] of the root project, for lists of scripts.
import type { MemberPackage } from "../../workspace/members.ts";
import { type PackageJson, scriptNames, scriptOf } from "../../workspace/package-json.ts";
import { realPath } from "../../../platform/files/real-path.ts";
import { mentionsInConfig } from "../config-file-name.ts";
import { findRootConfig } from "../root-config.ts";
import { readOwnConfig } from "../rtfig.ts";
import { readTaskTable } from "./task-table.ts";
import { type TaskOwner, TaskRules, withCommands } from "./task-rules.ts";

/** Returns undefined without [tasks]. @param report prints warnings @throws UserError */
export function openTaskRules(cwd: string, report?: (line: string) => void): TaskRules | undefined {
  if (!mentionsInConfig(cwd, "tasks")) return undefined;
  const config = findRootConfig(readOwnConfig(), cwd, report);
  const table = config && readTaskTable(config, cwd);
  return table && new TaskRules(table);
}

export interface ListedTask {
  readonly name: string;
  readonly command: string;
  readonly description: string | undefined;
}

/** Lists the scripts of a package and the commands that [tasks] adds to it. */
export function listTasks(
  { name, directory, manifest }: Pick<MemberPackage, "name" | "directory" | "manifest">,
  rules: TaskRules | undefined,
): ListedTask[] {
  if (!rules) return list(manifest, () => undefined);
  const owner: TaskOwner = { name, isRoot: realPath(directory) === realPath(rules.table.root) };
  return list(
    withCommands(manifest, rules.commandsOf(owner)),
    (task) => rules.ruleFor(owner, task)?.description,
  );
}

function list(manifest: PackageJson, describe: (task: string) => string | undefined): ListedTask[] {
  return scriptNames(manifest).map((name) => ({
    name,
    command: scriptOf(manifest, name)!,
    description: describe(name),
  }));
}
