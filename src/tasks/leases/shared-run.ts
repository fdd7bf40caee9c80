// The beginning and the end of a run that several machines share: which plan it is, what is shared of it, in which order it
// is worth doing; and what is told of it.
import { host } from "../../../platform/processes/process.ts";
import { oneLine } from "../../printable.ts";
import type { RunCoordinator } from "../../distributed/coordinator.ts";
import { VERSION } from "../../version.ts";
import { tryGit } from "../../workspace/affected.ts";
import { chooseLimit } from "../execution/concurrency-limit.ts";
import type { TaskPlan } from "../planning/plan.ts";
import { labelOf } from "../labels.ts";
import { fillTimes, keysOf } from "../planning/shard.ts";
import { readTimes } from "../planning/shard-times.ts";
import type { ScriptTask, TaskRequest } from "../task.ts";
import { rankTasks } from "./critical-path-priority.ts";
import { LeaseScheduler } from "./lease-scheduler.ts";

export interface SharedRun {
  /** With these, `line` and `close`, if any script can be shared. Otherwise each machine runs all scripts. */
  readonly turns?: LeaseScheduler;
  /** Lines for people: `notices` are warnings. */
  readonly line?: string;
  readonly notices: readonly string[];
  /** The last script has ended. What was whose. */
  close?(): Promise<string>;
}

const MOST_NAMED = 5;

/** Why machines that share a run do these each by itself. */
export async function findUnshared(
  { tasks }: TaskPlan,
  { whyUnshared }: TaskRequest,
): Promise<ReadonlyMap<ScriptTask, string>> {
  const unshared = new Map<ScriptTask, string>();
  for (const task of tasks) {
    const why = await whyUnshared?.(task);
    if (why !== undefined) unshared.set(task, why);
  }
  return unshared;
}

/** Throws Failure. */
export async function openSharedRun(
  plan: TaskPlan,
  request: TaskRequest,
  tell: (line: string) => void,
): Promise<SharedRun> {
  const unshared = await findUnshared(plan, request);
  const notices =
    unshared.size > 0 ? [`Each machine runs what it cannot share: ${describeUnshared(unshared)}`] : [];
  const { tasks, waitsFor } = plan;
  if (unshared.size === tasks.length) return { notices };
  const share = request.share!;
  const keys = keysOf(plan);
  const times = readTimes(share.times, request.cwd);
  const board = await request.openBoard!(await namePlan(plan, keys, request));
  const durations = tasks.map(
    ({ packageName, scriptName }, at) =>
      times.of(packageName, scriptName) ?? board.times.get(nameOf(keys[at]!)),
  );
  const turns = new LeaseScheduler({
    board,
    places: chooseLimit({ ...request, parallel: false }),
    ranks: rankTasks(fillTimes(durations), waitsFor),
    isShared: tasks.map((task) => !unshared.has(task)),
    tell,
  });
  const count = tasks.length - unshared.size;
  return {
    turns,
    line: oneLine(
      `Run ${share.id} at ${share.server.url}, here ${board.machine}: ${count} of ${tasks.length} scripts are shared`,
    ),
    notices,
    close: async () => await closeSharedRun(turns, board, keys),
  };
}

async function closeSharedRun(
  turns: LeaseScheduler,
  board: RunCoordinator,
  keys: readonly string[],
): Promise<string> {
  const { machine } = board;
  board.keepTimes(new Map([...turns.durations].map(([index, time]) => [nameOf(keys[index]!), time])));
  await board.close();
  const here = turns.counts.get(machine) ?? 0;
  const others = [...turns.counts].filter(([name]) => name !== machine).sort(([a], [b]) => (a < b ? -1 : 1));
  const list = others.map(([name, count]) => `${count} on ${name}`);
  return oneLine([`Shared run: ${here} ${here === 1 ? "script" : "scripts"} here`, ...list].join(", "));
}

/** Why each machine runs which. */
function describeUnshared(unshared: ReadonlyMap<ScriptTask, string>): string {
  const told = [...unshared].map(([task, why]) => `${labelOf(task)} (${why})`);
  const rest = told.length - MOST_NAMED;
  return told.slice(0, MOST_NAMED).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

/** What machines have to agree in: what runs and in which order, the commit, the system, and rt. */
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
