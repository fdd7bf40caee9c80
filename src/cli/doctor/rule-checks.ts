// Checks for `rt doctor` that each rule of rtfig.toml that is named after a script matches a script.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { DiagnosisCheck } from "../../../platform/secrets/contract/secret-provider.ts";
import { FILE_NAME } from "../../config/config-file-name.ts";
import { findRoot } from "../../config/root-project.ts";
import { readConfig } from "../../config/rtfig.ts";
import { addCommands } from "../../config/tasks/project-tasks.ts";
import { readTaskRules } from "../../config/tasks/task-rules.ts";
import { describeStrayRules, isNamed, type ScriptRules } from "../../config/unmatched-rules.ts";
import { isForOne } from "../../secrets/grants/grants.ts";
import { openOwnWorkspace, openWorkspace } from "../../workspace/members.ts";

/**
 * Returns [] without rules, and if the configuration or a package.json is invalid, which other checks report.
 * @param directory the working directory
 */
export function checkRules(directory: string): DiagnosisCheck[] {
  try {
    const folder = findRoot(directory);
    const file = folder && join(folder, FILE_NAME);
    if (!file || !existsSync(file)) return [];
    const config = readConfig(file);
    const { cache, secrets, remote } = config.content.run ?? {};
    const tasks = readTaskRules(config, folder);
    const rules: ScriptRules[] = [
      ...(tasks ? [tasks.asRules()] : []),
      { section: "run.cache", folder, names: Object.keys(cache ?? {}), isForOne: isNamed },
      { section: "run.secrets", folder, names: Object.keys(secrets ?? {}), isForOne },
      { section: "run.remote.scripts", folder, names: Object.keys(remote?.scripts ?? {}), isForOne: isNamed },
    ];
    if (rules.every(({ names }) => names.length === 0)) return [];
    const lines = describeStrayRules(
      rules,
      tasks ? addCommands(openOwnWorkspace(folder), tasks) : openWorkspace(folder),
    );
    const name = "rules";
    if (lines.length === 0) return [{ name, status: "ok", found: `Every rule in ${file} matches a script` }];
    const remedy = `rename each rule in ${file} to a script's name, or remove it`;
    return [{ name, status: "warning", found: lines.join("; "), remedy }];
  } catch (error) {
    const { name } = error as Error;
    if (name !== "UserError" && name !== "PackageJsonError") throw error;
    return [];
  }
}
