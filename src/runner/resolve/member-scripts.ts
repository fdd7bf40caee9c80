// Finds a script in other packages of the workspace, for messages about a package that lacks it.
import { files } from "../../../platform/files/files.ts";
import { findPackageJson, scriptOf } from "../../workspace/package-json.ts";
import type { MemberPackage } from "../../workspace/members.ts";
import { quoteArgument } from "../../shell-quoting.ts";

/** The command that runs the script of the other packages; undefined if none has it. */
export async function commandForMembers(script: string, cwd: string): Promise<string | undefined> {
  const { openOwnWorkspace } = await import("../../workspace/members.ts");
  let members: readonly MemberPackage[];
  try {
    ({ members } = openOwnWorkspace(cwd));
  } catch {
    // A broken workspace is reported by commands that use it.
    return undefined;
  }
  const [first, ...others] = members.filter(({ manifest }) => scriptOf(manifest, script) !== null);
  if (!first) return undefined;
  const scope =
    others.length === 0 && first.name !== "" ? `--filter ${quoteArgument(first.name)}` : "--workspaces";
  return `rt run ${scope} ${quoteArgument(script)}`;
}

/** A warning for `rt run test` in the root of a workspace, which runs `test` of the system. */
export async function warnAboutProgram(name: string, path: string, cwd: string): Promise<string[]> {
  const root = findPackageJson(cwd);
  const isRoot = root && (root.manifest.workspaces !== undefined || hasPnpmWorkspace(root.directory));
  const command = isRoot && (await commandForMembers(name, cwd));
  if (!command) return [];
  return [
    `warning: The workspace root has no script "${name}", so rt runs the program ${path}`,
    `hint: run the script of the packages: ${command}`,
  ];
}

function hasPnpmWorkspace(directory: string): boolean {
  return typeof files.readFile(`${directory}/pnpm-workspace.yaml`, 1) !== "string";
}
