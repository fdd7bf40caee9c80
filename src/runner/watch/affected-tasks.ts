// Decides which tasks a changed file restarts: by the recorded dependencies of a task's latest run, otherwise by packages and
// their dependency graph.
//
// Invariants: pure. If the check is inconclusive, the run is planned again. That applies to package.json, lockfiles and
// rtfig.toml, and to a package that may be affected now. Unless inputs are recorded, it also applies to files outside all
// packages or of the root. A change restarts a service only if it matches the service's `inputs`.
//
// Non-obvious: dependents of a restarted task run after it anyway and check their own inputs then.
import { reachable, reverseGraph } from "../../workspace/dependencies.ts";
import { findOwners, SHARED_FILES } from "../../workspace/affected.ts";
import type { TaskPlan } from "../../tasks/planning/plan.ts";
import type { RecordedInputs } from "../../cache/cached-script.ts";
import type { ScriptTask } from "../../tasks/task.ts";
import type { ServiceInputs } from "./service-inputs.ts";

/** "everything": all tasks of the plan. "anew": a new plan is necessary. */
export type Affected = readonly ScriptTask[] | "everything" | "anew";

const PLAN_FILES: readonly string[] = [...SHARED_FILES, "rtfig.toml"];

function nameOf(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}

/**
 * By packages only.
 * @param hasReference whether the packages were selected by changes since a commit
 */
export function findAffectedTasks(
  { tasks, packages }: TaskPlan,
  hasReference: boolean,
): (path: string) => Affected {
  if (!packages) return (path) => (PLAN_FILES.includes(nameOf(path)) ? "anew" : "everything");
  const { workspace, graph, selected } = packages;
  const { members } = workspace;
  const ownerOf = findOwners(workspace);
  const dependents = reverseGraph(graph);
  const byDirectory = Map.groupBy(tasks, ({ packageDirectory }) => packageDirectory);
  const known = new Map<number, Affected>();

  function affectedBy(owner: number): Affected {
    const reached = [...reachable(dependents, [owner])];
    if (hasReference && reached.some((index) => !selected.includes(index))) return "anew";
    if (members[owner]!.isRoot) return "everything";
    return reached.flatMap((index) => byDirectory.get(members[index]!.directory) ?? []);
  }

  return (path) => {
    const owner = ownerOf(path);
    if (owner === "all" || tasks.length === 0 || /^(?:package\.json|rtfig\.toml)$/.test(nameOf(path)))
      return "anew";
    if (owner === undefined) return "everything";
    const affected = known.get(owner) ?? affectedBy(owner);
    known.set(owner, affected);
    return affected;
  };
}

export interface TaskWithInputs {
  readonly inputs: RecordedInputs;
  /**
   * Whether they are from the latest run. After a run that failed or was not cached, they only add to what packages
   * decide.
   */
  readonly isNewest: boolean;
}

export interface Reached {
  readonly tasks: readonly ScriptTask[];
  /** Tasks to restart if the path differs from its recorded state. */
  readonly exact: readonly ScriptTask[];
}

/** @param affected the decision by packages; undefined if the path is not a source file */
export function chooseTasks(
  path: string,
  affected: Affected | undefined,
  tasks: readonly ScriptTask[],
  knownOf: (task: ScriptTask) => TaskWithInputs | undefined,
  serviceInputs: ServiceInputs,
): Reached | "anew" {
  if (affected === "anew") return "anew";
  const exact: ScriptTask[] = [];
  const others: ScriptTask[] = [];
  const byPackage = new Set(affected === "everything" ? tasks : affected);
  let hasRecordedInputs = false;
  let hasServices = false;
  for (const task of tasks) {
    if (task.rule?.service) {
      hasServices = true;
      if (serviceInputs.get(task)?.(path)) others.push(task);
      continue;
    }
    const { inputs, isNewest = false } = knownOf(task) ?? {};
    hasRecordedInputs ||= isNewest;
    if (isNewest) {
      if (inputs!.has(path)) exact.push(task);
    } else if (inputs?.hasRead(path) || (byPackage.has(task) && !inputs?.isOwn(path))) others.push(task);
  }
  const isUnclear = affected === "everything" && !hasRecordedInputs && !hasServices;
  return isUnclear ? "anew" : { tasks: others, exact };
}
