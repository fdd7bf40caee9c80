// Which tasks of a run in many packages a changed file is a reason to run again: those of the package that holds it, and of
// the packages that depend on that one.
//
// Contract: pure. When in doubt the whole run is planned and started anew: for what lies outside every package or belongs to
// the root, for a package.json, whose scripts and dependencies the plan was made of, and where a package that was not
// affected when the run began may be now.
import { reachable, reverseGraph } from "../../workspace/dependencies.ts";
import { findOwners } from "../../workspace/affected.ts";
import type { Plan, Task } from "../../tasks/run-tasks.ts";

export type Affected = readonly Task[] | "all";

/** @param hasReference whether the packages are those that have changed since a commit */
export function findAffectedTasks(
  { tasks, packages }: Plan,
  hasReference: boolean,
): (path: string) => Affected {
  const { workspace, graph, selected } = packages!;
  const { members } = workspace;
  const ownerOf = findOwners(workspace);
  const dependents = reverseGraph(graph);
  const byDirectory = Map.groupBy(tasks, ({ packageDirectory }) => packageDirectory);
  const known = new Map<number, Affected>();

  function affectedBy(owner: number): Affected {
    const reached = [...reachable(dependents, [owner])];
    if (members[owner]!.isRoot || (hasReference && reached.some((index) => !selected.includes(index))))
      return "all";
    return reached.flatMap((index) => byDirectory.get(members[index]!.directory) ?? []);
  }

  return (path) => {
    const owner = ownerOf(path);
    if (typeof owner !== "number" || tasks.length === 0 || /[/\\]package\.json$/.test(path)) return "all";
    const affected = known.get(owner) ?? affectedBy(owner);
    known.set(owner, affected);
    return affected;
  };
}
