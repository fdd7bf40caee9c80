// Starts and ends a shared run: identifies the plan, selects the shared tasks, ranks them by critical path,
// prints a summary.
import { host } from "../../../platform/processes/process.ts";
import { oneLine } from "../../printable.ts";
import type { RunCoordinator } from "../../distributed/coordinator.ts";
import { VERSION } from "../../version.ts";
import { tryGit } from "../../workspace/git.ts";
import { chooseLimit } from "../execution/concurrency-limit.ts";
import type { TaskPlan } from "../planning/plan.ts";
import { labelOf } from "../labels.ts";
import { fillTimes, keysOf } from "../planning/shard.ts";
import { readTimes } from "../planning/shard-times.ts";
import type { ScriptTask, TaskRequest } from "../task.ts";
import { rankTasks } from "./critical-path-priority.ts";
import { LeaseScheduler } from "./lease-scheduler.ts";

/** Functions that a shared run gets from the caller. */
export interface RunSharing {
  /** Connects to the coordinator. @param plan hash that identifies the plan @throws UserError */
  open(plan: string): Promise<RunCoordinator>;
  /** Why other machines cannot restore a task's outputs; undefined if they can. @throws UserError */
  whyUnshared(task: ScriptTask): Promise<string | undefined>;
}

export interface SharedRun {
  /** Absent, with `line` and `close`, if no script can be shared: then each machine runs all scripts. */
  readonly leases?: LeaseScheduler;
  /** Lines for people; `notices` are warnings. */
  readonly line?: string;
  readonly notices: readonly string[];
  /** Ends the run after the last script. Returns a summary by machine. */
  close?(): Promise<string>;
}

const MAX_NAMED = 5;

/** Tasks that each machine runs itself, with the reason. */
export async function findUnshared(
  { tasks }: TaskPlan,
  { sharing }: TaskRequest,
): Promise<ReadonlyMap<ScriptTask, string>> {
  const unshared = new Map<ScriptTask, string>();
  for (const task of tasks) {
    const why = await sharing?.whyUnshared(task);
    if (why !== undefined) unshared.set(task, why);
  }
  return unshared;
}

/** @throws UserError */
export async function openSharedRun(
  plan: TaskPlan,
  request: TaskRequest,
  printLine: (line: string) => void,
): Promise<SharedRun> {
  const unshared = await findUnshared(plan, request);
  const notices =
    unshared.size > 0
      ? [`These scripts are not shared, so each machine runs them: ${describeUnshared(unshared)}`]
      : [];
  const { tasks, waitsFor } = plan;
  if (unshared.size === tasks.length) return { notices };
  const share = request.share!;
  const keys = keysOf(plan);
  const times = readTimes(share.times, request.cwd);
  const coordinator = await request.sharing!.open(await namePlan(plan, keys, request));
  const durations = tasks.map(
    ({ packageName, scriptName }, at) =>
      times.of(packageName, scriptName) ?? coordinator.times.get(nameOf(keys[at]!)),
  );
  const leases = new LeaseScheduler({
    coordinator,
    slots: chooseLimit({ ...request, parallel: false }, tasks),
    ranks: rankTasks(fillTimes(durations), waitsFor),
    isShared: tasks.map((task) => !unshared.has(task)),
    printLine,
  });
  const count = tasks.length - unshared.size;
  return {
    leases,
    line: oneLine(
      `Run ${share.id} at ${share.server.url}, machine ${coordinator.machine}: ${count} of ${tasks.length} scripts are shared`,
    ),
    notices,
    close: async () => await closeSharedRun(leases, coordinator, keys),
  };
}

async function closeSharedRun(
  leases: LeaseScheduler,
  coordinator: RunCoordinator,
  keys: readonly string[],
): Promise<string> {
  const { machine } = coordinator;
  coordinator.keepTimes(new Map([...leases.durations].map(([index, time]) => [nameOf(keys[index]!), time])));
  await coordinator.close();
  const local = leases.counts.get(machine) ?? 0;
  const others = [...leases.counts].filter(([name]) => name !== machine).sort(([a], [b]) => (a < b ? -1 : 1));
  const list = others.map(([name, count]) => `${count} on ${name}`);
  return oneLine(
    [`Shared run: ${local} ${local === 1 ? "script" : "scripts"} on this machine`, ...list].join(", "),
  );
}

function describeUnshared(unshared: ReadonlyMap<ScriptTask, string>): string {
  const descriptions = [...unshared].map(([task, why]) => `${labelOf(task)} (${why})`);
  const rest = descriptions.length - MAX_NAMED;
  return descriptions.slice(0, MAX_NAMED).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

/** Hashes what all machines must have in common: tasks, steps, order, commit, system and rt version. */
async function namePlan(plan: TaskPlan, keys: readonly string[], request: TaskRequest): Promise<string> {
  const commit = await tryGit(request.cwd, ["rev-parse", "HEAD"]);
  const scripts = plan.tasks.map(({ steps, args }, at) => [
    keys[at],
    steps.map(({ scriptName, command }) => [scriptName, command]),
    args,
    plan.waitsFor[at],
  ]);
  const text = JSON.stringify([VERSION, host.system, commit?.trim() ?? null, scripts]);
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}

function nameOf(key: string): string {
  return key.replace("\0", "#");
}
