// Lists the scripts of selected packages: `rt run --filter web` without a script.
import { oneLine, printable } from "../../printable.ts";
import { scriptNames, scriptOf } from "../../workspace/package-json.ts";
import { displayName, selectPackages } from "./plan.ts";
import type { TaskRequest } from "../task.ts";

/** @throws UserError @throws PackageJsonError */
export async function listScripts(request: TaskRequest, useColor: boolean): Promise<string> {
  const { workspace, selected } = await selectPackages(request);
  const bold = (text: string) => (useColor ? `\x1b[1m${text}\x1b[0m` : text);
  const blocks = selected.map((index) => {
    const member = workspace.members[index]!;
    const names = scriptNames(member.manifest);
    const isUnique = workspace.members.every((other) => other === member || other.name !== member.name);
    const selector = member.name === "" || !isUnique ? `./${member.path}` : member.name;
    const entries = names.map((name) => {
      const words = `--filter ${oneLine(request.quote(selector))} ${name.startsWith("-") ? "-- " : ""}`;
      return `  $ rt run ${words}${bold(oneLine(request.quote(name)))}\n    ${oneLine(scriptOf(member.manifest, name) ?? "")}\n`;
    });
    return `${bold(printable(displayName(member)))} scripts (${names.length} found):\n${entries.join("")}`;
  });
  return blocks.join("\n");
}
