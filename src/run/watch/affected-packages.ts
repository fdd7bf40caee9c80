// After a change, what of a run in many packages is worth doing again: the packages that hold a changed file, and those
// that depend on them. The others are as they were when the run before ended.
//
// Contract: when in doubt everything runs. What belongs to the root, or says what packages there are, affects them all.
import type { CommandLines } from "../../settings/command-line.ts";
import type { ManySettings } from "../../settings/many.ts";
import { selectPackages } from "../../tasks/plan.ts";
import { affectedBy } from "../../workspace/affected.ts";
import { openWorkspace } from "../../workspace/members.ts";
import { findPackageJson } from "../../workspace/package-json.ts";
import { isGlob } from "../../workspace/glob.ts";

/** The directory of the workspace where packages are chosen, otherwise that of the package. */
export function projectOf(many: ManySettings | undefined, cwd: string): string {
  if (many && choosesPackages(many)) return openWorkspace(cwd).root;
  return findPackageJson(cwd)?.directory ?? cwd;
}

function choosesPackages({ filters, workspaces, affected }: ManySettings): boolean {
  return filters.length > 0 || workspaces || affected !== undefined;
}

/** @param changed absolute paths */
export async function wordsForChange(
  { script, packages }: CommandLines,
  many: ManySettings,
  changed: readonly string[],
  cwd: string,
): Promise<readonly string[]> {
  if (!choosesPackages(many)) return script;
  const { filters, affected } = many;
  try {
    const { workspace, graph, selected } = await selectPackages({
      filters,
      affected,
      cwd,
      noExitOnError: true,
      ifPresent: true,
    });
    const again = affectedBy(workspace, graph, changed);
    const { relative } = process.getBuiltinModule("node:path");
    const directories = selected
      .filter((index) => again.has(index))
      .map((index) => relative(cwd, workspace.members[index]!.directory));
    const isAll = directories.length === 0 || directories.length === selected.length;
    if (isAll || directories.some(isGlob)) return script;
    return [...directories.map((directory) => `--filter=./${directory}`), "--if-present", ...packages];
  } catch {
    return script; // rt says what is wrong when it runs
  }
}
