// Adds [tasks] of the root project to packages and to lists of scripts.
import type { MemberPackage, Workspace } from "../../workspace/members.ts";
import { type PackageJson, scriptNames, scriptOf } from "../../workspace/package-json.ts";
import { ownerOf, type TaskRules, withCommands } from "./task-rules.ts";

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
  const owner = rules.ownerIn({ name, directory });
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

/** Adds the commands of [tasks] to the packages, and a package for commands of a root without package.json. */
export function addCommands(workspace: Workspace, rules: TaskRules): Workspace {
  const members = workspace.members.map((member) => {
    const manifest = withCommands(member.manifest, rules.commandsOf(ownerOf(member)));
    return manifest === member.manifest ? member : { ...member, manifest };
  });
  if (members.some(({ path }) => path === ".")) return { ...workspace, members };
  const commands = rules.commandsOf({ name: "", isRoot: true });
  if (Object.keys(commands).length === 0) return { ...workspace, members };
  const manifest = withCommands({}, commands);
  const root = { directory: workspace.root, path: ".", name: "", manifest, isRoot: true };
  return { ...workspace, members: [root, ...members] };
}
