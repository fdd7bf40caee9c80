// Explains why a plan contains a task: which filter matched its package, and what changed in it. Used by
// `--dry-run=html`
// and `--dry-run=mermaid`.
import { oneLine, printable } from "../../printable.ts";
import { selectMembers } from "../../workspace/filter.ts";
import { taskNameOf } from "../labels.ts";
import type { TaskCause } from "./affected-tasks.ts";
import { displayName, type TaskPlan, type SelectedPackages } from "./plan.ts";
import { type ScriptTask, type TaskRequest, taskId } from "../task.ts";

/** Returns printable sentences for each task; none without a workspace. */
export function explainTasks(
  { tasks, packages, dependsOn, selection }: TaskPlan,
  request: TaskRequest,
): readonly string[][] {
  if (!packages) return tasks.map(() => []);
  const { members } = packages.workspace;
  const positions = new Map(members.map(({ directory }, index) => [directory, index]));
  const filters = positiveFilters(packages, request);
  const dependents = findDependents(tasks, dependsOn);
  return tasks.map(({ packageDirectory, scriptName, index: task }) => {
    const index = positions.get(packageDirectory)!;
    const reasons = filters.filter(({ chosen }) => chosen.has(index)).map(({ reason }) => reason);
    if (request.workspaces && request.filters.length === 0)
      reasons.push("because --workspaces means every package");
    const dependent = dependents.get(task);
    if (dependent) reasons.push(`because ${taskNameOf(dependent)} depends on it`);
    const cause = selection
      ? selection.causes.get(taskId({ packageDirectory, scriptName }))
      : packages.affected?.get(index);
    // The change is more specific than the pattern, so it comes first.
    return cause ? [describeCause(cause, packages), ...reasons] : reasons;
  });
}

/** Returns the first task that depends on another by [tasks], by the index of the other. */
function findDependents(
  tasks: readonly ScriptTask[],
  dependsOn: TaskPlan["dependsOn"] = [],
): ReadonlyMap<number, ScriptTask> {
  const dependents = new Map<number, ScriptTask>();
  for (const [index, targets] of dependsOn.entries())
    for (const target of targets) if (!dependents.has(target)) dependents.set(target, tasks[index]!);
  return dependents;
}

/** Evaluates each filter separately; filters that exclude packages have selected none. */
function positiveFilters(
  { workspace, graph, changed }: SelectedPackages,
  { filters, cwd, quote }: TaskRequest,
) {
  return filters
    .filter((filter) => !filter.startsWith("!"))
    .map((filter) => ({
      reason: `because of --filter ${oneLine(quote(filter))}`,
      chosen: new Set(selectMembers(workspace, graph, [filter], cwd, true, changed).indices),
    }));
}

/** Returns a printable sentence. */
export function describeCause(cause: TaskCause, { workspace }: Pick<SelectedPackages, "workspace">): string {
  if ("task" in cause) return `because it depends on ${taskNameOf(cause.task)}, which is affected`;
  if ("dependsOn" in cause)
    return `because it depends on ${printable(displayName(workspace.members[cause.dependsOn]!))}, which is affected`;
  const { relative } = process.getBuiltinModule("node:path");
  return `because ${printable(relative(workspace.root, cause.file).replaceAll("\\", "/"))} changed`;
}
