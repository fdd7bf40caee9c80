// `--dry-run`: the plan, in the order in which it would start, for people or as JSON.
import { escapeJson, oneLine, printable } from "../../printable.ts";
import type { Plan } from "../plan.ts";
import type { Shard } from "../shard.ts";
import type { CacheReason, Step, Task, TaskRequest } from "../task.ts";
import { describeWhy, formatDuration, labelOf } from "./wording.ts";

type Reasons = ReadonlyMap<Task, CacheReason>;

/** Why each machine of a run runs these itself. */
type Unshared = ReadonlyMap<Task, string>;

/**
 * @param reasons of the scripts that are cached, where they were asked for
 * @param unshared where several machines share the run
 */
export function renderPlan(
  plan: Plan,
  request: TaskRequest,
  format: "text" | "json",
  reasons: Reasons,
  unshared: Unshared | undefined,
): string {
  return format === "json"
    ? renderJson(plan, request, reasons, unshared)
    : renderText(plan, request, reasons, unshared);
}

function renderText(
  { tasks, waitsFor, cycles, notices, shard }: Plan,
  { quote }: TaskRequest,
  reasons: Reasons,
  unshared: Unshared | undefined,
): string {
  const lines = notices.map((notice) => `warn: ${oneLine(notice)}`);
  for (const cycle of cycles)
    lines.push(`warn: circular dependency ${[...cycle, cycle[0]!].map(printable).join(" -> ")}`);
  for (const task of tasks) {
    const before = (waitsFor[task.index] ?? []).map((index) => labelOf(tasks[index]!));
    lines.push(`${labelOf(task)}${before.length > 0 ? ` (after ${before.join(", ")})` : ""}`);
    const reason = reasons.get(task);
    if (reason) lines.push(`  ${describeWhy(task, reason.isHit, reason.why)}`);
    const why = unshared?.get(task);
    if (why !== undefined) lines.push(`  on each machine: ${oneLine(why)}`);
    for (const step of task.steps) {
      lines.push(`  $ ${oneLine(describeStep(step, task.args.map(quote)))}`);
      for (const { name, source } of step.secrets ?? []) lines.push(`    ${name} from ${source}`);
    }
  }
  const count = tasks.length === 1 ? "1 script" : `${tasks.length} scripts`;
  const shards = shard ? ["", ...describeShares(shard)] : [];
  return `${[...lines, "", `${count} would run`, ...shards].join("\n")}\n`;
}

/** What each machine does. */
function describeShares({ number, count, split, shares }: Shard): string[] {
  const lines = shares.flatMap(({ own, needed, duration }, at) => {
    const expected = duration === undefined ? "" : `, ${formatDuration(duration)} of work`;
    return [
      `shard ${at + 1}/${count}${at + 1 === number ? ", this one" : ""}${expected}`,
      ...own.map((task) => `  ${labelOf(task)}`),
      ...needed.map((task) => `  ${labelOf(task)}, which these wait for`),
    ];
  });
  return [...lines, `split ${split}`];
}

function renderJson(
  { tasks, waitsFor, cycles, notices, shard }: Plan,
  request: TaskRequest,
  reasons: Reasons,
  unshared: Unshared | undefined,
): string {
  const plan = {
    version: 1,
    mode: request.parallel ? "parallel" : request.sequential ? "sequential" : "ordered",
    tasks: tasks.map((task) => ({
      label: task.label,
      package: task.packageName === "" ? null : task.packageName,
      directory: task.packageDirectory,
      script: task.scriptName,
      args: task.args,
      ...cacheOf(reasons.get(task)),
      ...(unshared && { shared: !unshared.has(task) }),
      steps: task.steps.map(({ scriptName, command, secrets }) => ({ script: scriptName, command, secrets })),
      waitsFor: (waitsFor[task.index] ?? []).map((index) => tasks[index]?.label),
    })),
    cycles,
    warnings: notices,
    ...(shard && {
      shard: {
        number: shard.number,
        count: shard.count,
        split: shard.split,
        shards: shard.shares.map(({ own, needed, duration }) => ({
          scripts: own.map(({ label }) => label),
          needed: needed.map(({ label }) => label),
          duration: duration ?? null,
        })),
      },
    }),
  };
  return `${escapeJson(JSON.stringify(plan, null, 2))}\n`;
}

function cacheOf(reason: CacheReason | undefined): object {
  return reason ? { cache: { result: reason.isHit ? "hit" : "miss", why: oneLine(reason.why) } } : {};
}

function describeStep({ command, isMain }: Step, quotedArgs: readonly string[]): string {
  return isMain ? [command, ...quotedArgs].join(" ") : command;
}
