// Lists the scripts of selected packages: `rt run --filter web` without a script.
import { oneLine, printable } from "../../printable.ts";
import { listTasks } from "../../config/tasks/project-tasks.ts";
import { displayName, selectPackages } from "./plan.ts";
import type { TaskRequest } from "../task.ts";

/** @throws UserError @throws PackageJsonError */
export async function listScripts(request: TaskRequest, useColor: boolean): Promise<string> {
  const { workspace, selected } = await selectPackages(request);
  const bold = (text: string) => (useColor ? `\x1b[1m${text}\x1b[0m` : text);
  const blocks = selected.map((index) => {
    const member = workspace.members[index]!;
    const tasks = listTasks(member, request.taskRules);
    const isUnique = workspace.members.every((other) => other === member || other.name !== member.name);
    const selector = member.name === "" || !isUnique ? `./${member.path}` : member.name;
    const entries = tasks.map(({ name, command, description }) => {
      const words = `--filter ${oneLine(request.quote(selector))} ${name.startsWith("-") ? "-- " : ""}`;
      const lines = [...(description === undefined ? [] : [description]), command];
      return `  $ rt run ${words}${bold(oneLine(request.quote(name)))}\n${lines.map((line) => `    ${oneLine(line)}\n`).join("")}`;
    });
    return `${bold(printable(displayName(member)))} scripts (${tasks.length} found):\n${entries.join("")}`;
  });
  return blocks.join("\n");
}
