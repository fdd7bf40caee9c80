// Converts `with` of turbo.json: tasks that run as long as another one does.
//
// Invariants:
// - Only a persistent task becomes a service. A service ends with the tasks that need it, as a companion ends with turbo's run.
// - Two tasks that name each other do not depend on each other: the first one depends on the second.
//
// Non-obvious: turbo starts both at the same time, rt starts the dependent when the service is ready.
import { splitTaskName } from "../../config/tasks/task-name.ts";
import { type ImportedRow, type NamedRow, show } from "./imported-row.ts";

export interface Companions {
  readonly named: ReadonlyMap<string, readonly string[]>;
  /** The tasks with `"persistent": true`. */
  readonly persistent: ReadonlySet<string>;
}

/** @param say adds a note on a task */
export function addServices(
  rows: readonly NamedRow[],
  { named, persistent }: Companions,
  say: (task: string, text: string) => void,
): NamedRow[] {
  const all = new Map<string, ImportedRow>(rows);
  /** A task of one package has the settings of the task in all packages. */
  const rowFor = (name: string) => (all.has(name) ? name : splitTaskName(name).task);
  const reaches = (from: string, goal: string, seen = new Set<string>()): boolean => {
    if (from === goal) return true;
    if (seen.has(from)) return false;
    seen.add(from);
    return dependenciesOf(all.get(from)).some((each) => reaches(each, goal, seen));
  };
  for (const [task, names] of named)
    for (const name of names) {
      const companion =
        name.includes("#") || !task.includes("#") ? name : `${splitTaskName(task).package}#${name}`;
      if (!persistent.has(rowFor(companion))) {
        say(task, `"with" has ${show(name)}, which is not persistent; run both: rt run --parallel`);
        continue;
      }
      if (reaches(companion, task)) {
        if (companion !== task) say(task, `"with" has ${show(name)}, which depends on it already`);
        continue;
      }
      const row = all.get(rowFor(companion))!;
      const { cache: _, ...others } = row;
      all.set(companion, { ...others, service: true });
      all.set(task, { ...all.get(task), "depends-on": [...dependenciesOf(all.get(task)), companion] });
      say(
        companion,
        `it is a service, and ${show(task)} starts when it listens; if it does not listen, set ready (rt help services)`,
      );
    }
  return [...all];
}

function dependenciesOf(row: ImportedRow | undefined): readonly string[] {
  return (row?.["depends-on"] ?? []) as readonly string[];
}
