// Lists the scripts of the nearest package.json with their commands and a count, for `rt run` without a target.
import { host } from "../../platform/processes/process.ts";
import { wantsColor } from "../color.ts";
import { oneLine } from "../printable.ts";
import { openTaskRules } from "../config/tasks/project-task-rules.ts";
import { listTasks } from "../config/tasks/project-tasks.ts";
import { findPackageJson, textField } from "../workspace/package-json.ts";
import { quoteArgument } from "../shell-quoting.ts";
import { UsageError } from "../options/parse.ts";

export function listScripts(cwd: string): string {
  const located = findPackageJson(cwd);
  if (!located)
    throw new UsageError(
      "No package.json in this folder or its parents",
      "pass a file to run, or see rt --help",
    );
  const { directory, manifest } = located;
  const tasks = listTasks({ directory, manifest, name: textField(manifest, "name") }, openTaskRules(cwd));
  const useColor = wantsColor(host.originalVariable, () => host.isTerminal(1));
  const bold = (text: string) => (useColor ? `\x1b[1m${text}\x1b[0m` : text);
  const entries = tasks.map(({ name, command, description }) => {
    const separator = name.startsWith("-") ? "-- " : "";
    const lines = [...(description === undefined ? [] : [description]), command];
    return `  $ rt run ${separator}${bold(oneLine(quoteArgument(name)))}\n${lines.map((line) => `    ${oneLine(line)}\n`).join("")}`;
  });
  return [`${bold("package.json scripts")} (${tasks.length} found):`, ...entries].join("\n").trimEnd();
}
