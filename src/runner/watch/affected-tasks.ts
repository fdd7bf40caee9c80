// Which tasks of a run a changed file is a reason to run again. Of a task whose newest run is known by what it read, that
// decides; of every other one the package that holds the file does, and those that depend on that.
//
// Contract: pure. When in doubt the whole run is planned and started anew: for a package.json, whose scripts and dependencies
// the plan was made of, a lockfile and rtfig.toml; where a package that was not affected when the run began may be now; and,
// unless something is known of some task, for what lies outside every package or belongs to the root.
//
// Surprising: tasks that depend on one that runs again come after it in the schedule, whatever is said here. They find out
// when it is their turn whether anything of theirs has changed.
import { reachable, reverseGraph } from "../../workspace/dependencies.ts";
import { findOwners, SHARED_FILES } from "../../workspace/affected.ts";
import type { TaskPlan } from "../../tasks/planning/plan.ts";
import type { RecordedInputs, ScriptTask } from "../../tasks/task.ts";

/** "everything": all of them; "anew": all that there are when it is planned again. */
export type Affected = readonly ScriptTask[] | "everything" | "anew";

const OF_THE_PLAN: readonly string[] = [...SHARED_FILES, "rtfig.toml"];

function nameOf(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}

/**
 * By packages alone.
 *
 * @param hasReference whether the packages are those that have changed since a commit
 */
export function findAffectedTasks(
  { tasks, packages }: TaskPlan,
  hasReference: boolean,
): (path: string) => Affected {
  if (!packages) return (path) => (OF_THE_PLAN.includes(nameOf(path)) ? "anew" : "everything");
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

/** What is known of a task by what it read. */
export interface TaskWithInputs {
  readonly inputs: RecordedInputs;
  /** Whether that was its newest run: after one that failed, or was not kept, it only adds to what packages say. */
  readonly isNewest: boolean;
}

export interface Reached {
  /** To run again. */
  readonly tasks: readonly ScriptTask[];
  /** To run again where the path differs from what they found there. */
  readonly exact: readonly ScriptTask[];
}

/** @param affected what packages say of the path; undefined where it is none that they have a say in */
export function chooseTasks(
  path: string,
  affected: Affected | undefined,
  tasks: readonly ScriptTask[],
  knownOf: (task: ScriptTask) => TaskWithInputs | undefined,
): Reached | "anew" {
  if (affected === "anew") return "anew";
  const exact: ScriptTask[] = [];
  const others: ScriptTask[] = [];
  const byPackage = new Set(affected === "everything" ? tasks : affected);
  let isAnyKnown = false;
  for (const task of tasks) {
    const { inputs, isNewest = false } = knownOf(task) ?? {};
    isAnyKnown ||= isNewest;
    if (isNewest) {
      if (inputs!.has(path)) exact.push(task);
    } else if (inputs?.hasRead(path) || (byPackage.has(task) && !inputs?.isOwn(path))) others.push(task);
  }
  return affected === "everything" && !isAnyKnown ? "anew" : { tasks: others, exact };
}
