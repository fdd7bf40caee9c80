// `--dry-run`: the plan, in the order in which it would start, for people or as JSON.
import { escapeJson, oneLine, printable } from "../../printable.ts";
import type { TaskPlan } from "../../tasks/planning/plan.ts";
import type { Shard } from "../../tasks/planning/shard.ts";
import type { CacheReason, TaskStep, ScriptTask, TaskRequest } from "../../tasks/task.ts";
import type { RemotePreview, Placement } from "../../tasks/execution/placement.ts";
import {
  describeCount,
  describePlacement,
  describeTaskCacheReason,
  formatDuration,
  labelOf,
} from "../../tasks/labels.ts";

/** What was found out of the tasks, where it was asked for. */
export interface Findings {
  /** Of the scripts that are cached. */
  readonly reasons: ReadonlyMap<ScriptTask, CacheReason>;
  /** Where a run may have something done elsewhere. */
  readonly places: ReadonlyMap<ScriptTask, Placement>;
  readonly sketches: ReadonlyMap<ScriptTask, RemotePreview>;
  /** Why each machine of a shared run runs these itself; undefined where none share it. */
  readonly unshared: ReadonlyMap<ScriptTask, string> | undefined;
}

export function renderPlan(
  plan: TaskPlan,
  request: TaskRequest,
  format: "text" | "json",
  findings: Findings,
): string {
  return format === "json" ? renderJson(plan, request, findings) : renderText(plan, request, findings);
}

function renderText(
  { tasks, waitsFor, cycles, notices, shard }: TaskPlan,
  { quote }: TaskRequest,
  { reasons, places, sketches, unshared }: Findings,
): string {
  const lines = notices.map((notice) => `warn: ${oneLine(notice)}`);
  for (const cycle of cycles)
    lines.push(`warn: circular dependency ${[...cycle, cycle[0]!].map(printable).join(" -> ")}`);
  for (const task of tasks) {
    const before = (waitsFor[task.index] ?? []).map((index) => labelOf(tasks[index]!));
    lines.push(`${labelOf(task)}${before.length > 0 ? ` (after ${before.join(", ")})` : ""}`);
    const reason = reasons.get(task);
    if (reason)
      lines.push(`  ${describeTaskCacheReason(task, reason.isHit, reason.why)}${describeRemote(reason)}`);
    const where = places.get(task);
    if (where && where.place !== "cache") lines.push(`  runs ${describePlacement(where)}`);
    const why = unshared?.get(task);
    if (why !== undefined) lines.push(`  on each machine: ${oneLine(why)}`);
    for (const step of task.steps) {
      lines.push(`  $ ${oneLine(describeStep(step, task.args.map(quote)))}`);
      for (const { name, source } of step.secrets ?? []) lines.push(`    ${name} from ${source}`);
    }
    const sketch = sketches.get(task);
    if (sketch) lines.push(...describeSketch(sketch).map((line) => `    ${line}`));
  }
  const needless = tasks.filter((task) => reasons.get(task)?.isHit).length;
  const shards = shard ? ["", ...describeShares(shard)] : [];
  return `${[...lines, "", describeCount(tasks.length, needless), ...shards].join("\n")}\n`;
}

function describeSketch({ files, bytes, after, outputs, variables, action }: RemotePreview): string[] {
  const made = after.length > 0 ? `, and what ${after.map(labelOf).join(", ")} will have made` : "";
  return [
    `reads ${files} files of ${bytes} bytes${made}; makes ${outputs.map(oneLine).join(", ") || "no files"}`,
    `gets ${variables.map(oneLine).join(", ")}`,
    ...(action === undefined ? [] : [`action ${action}`]),
  ];
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
  { tasks, waitsFor, cycles, notices, shard }: TaskPlan,
  request: TaskRequest,
  { reasons, places, sketches, unshared }: Findings,
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
      ...(places.has(task) && { where: places.get(task) }),
      ...sent(sketches.get(task)),
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
  if (!reason) return {};
  const { isHit, why, remote } = reason;
  return { cache: { result: isHit ? "hit" : "miss", why: oneLine(why), ...(remote && { remote }) } };
}

/** Others may have what is not here. */
function describeRemote({ isHit, remote }: CacheReason): string {
  if (isHit || remote === undefined) return "";
  return remote === "not asked"
    ? "; remote: not asked, which --cache=local:r,remote:r does"
    : `; remote: ${remote}`;
}

function sent(sketch: RemotePreview | undefined): object {
  return sketch ? { sent: { ...sketch, after: sketch.after.map(({ label }) => label) } } : {};
}

function describeStep({ command, isMain }: TaskStep, quotedArgs: readonly string[]): string {
  return isMain ? [command, ...quotedArgs].join(" ") : command;
}
