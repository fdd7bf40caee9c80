// Renders a plan as text or JSON (`--dry-run`), in start order.
import { colorLabel } from "../../output.ts";
import { tomlKey } from "../../config-hint.ts";
import type { TaskRule } from "../../config/tasks/task-rules.ts";
import { escapeJson, oneLine, printable } from "../../printable.ts";
import type { TaskPlan } from "../../tasks/planning/plan.ts";
import type { Shard } from "../../tasks/planning/shard.ts";
import type { CacheReason } from "../../tasks/task-cache.ts";
import type { TaskStep, ScriptTask, TaskRequest } from "../../tasks/task.ts";
import type { RemotePreview, Placement } from "../../tasks/execution/placement.ts";
import {
  describeCount,
  describePlacement,
  describeCacheReason,
  formatDuration,
  labelOf,
} from "../../tasks/labels.ts";

/** Results of lookups for the plan; empty if not requested. */
export interface PlanFacts {
  /** Results for tasks with a cache rule. */
  readonly reasons: ReadonlyMap<ScriptTask, CacheReason>;
  /** Set if tasks of the run may be remote. */
  readonly placements: ReadonlyMap<ScriptTask, Placement>;
  readonly previews: ReadonlyMap<ScriptTask, RemotePreview>;
  /** Why each machine of a shared run runs these tasks itself; undefined without a shared run. */
  readonly unshared: ReadonlyMap<ScriptTask, string> | undefined;
}

export function renderPlan(
  plan: TaskPlan,
  request: TaskRequest,
  format: "text" | "json",
  facts: PlanFacts,
): string {
  return format === "json" ? renderJson(plan, request, facts) : renderText(plan, request, facts);
}

function renderText(
  { tasks, waitsFor, cycles, notices, shard }: TaskPlan,
  { quote, permissions }: TaskRequest,
  { reasons, placements, previews, unshared }: PlanFacts,
): string {
  const lines = notices.map((notice) => colorLabel(`warning: ${oneLine(notice)}`, 1));
  for (const cycle of cycles)
    lines.push(
      colorLabel(`warning: circular dependency ${[...cycle, cycle[0]!].map(printable).join(" -> ")}`, 1),
    );
  for (const task of tasks) {
    const before = (waitsFor[task.index] ?? []).map((index) => labelOf(tasks[index]!));
    lines.push(`${labelOf(task)}${before.length > 0 ? ` (after ${before.join(", ")})` : ""}`);
    const reason = reasons.get(task);
    if (reason) lines.push(`  ${describeReason(reason)}`);
    const where = placements.get(task);
    if (where && where.place !== "cache") lines.push(`  runs ${describePlacement(where)}`);
    const why = unshared?.get(task);
    if (why !== undefined) lines.push(`  on each machine: ${oneLine(why)}`);
    lines.push(...describeRule(task.rule).map((line) => `  ${line}`));
    lines.push(...(permissions?.describe(task) ?? []).map((line) => `  ${line}`));
    for (const step of task.steps) {
      lines.push(`  $ ${oneLine(describeStep(step, task.args.map(quote)))}`);
      for (const { name, source } of step.secrets ?? []) lines.push(`    ${name} from ${source}`);
    }
    const preview = previews.get(task);
    if (preview) lines.push(...describePreview(preview).map((line) => `    ${line}`));
  }
  const needless = tasks.filter((task) => reasons.get(task)?.isHit).length;
  const shards = shard ? ["", ...describeShares(shard)] : [];
  return `${[...lines, "", describeCount(tasks.length, needless), ...shards].join("\n")}\n`;
}

function describeReason(reason: CacheReason): string {
  const { isHit, why, cause } = reason;
  return cause ? `would run: ${oneLine(why)}` : `${describeCacheReason(isHit, why)}${describeRemote(reason)}`;
}

function describePreview({ files, bytes, after, outputs, variables, action }: RemotePreview): string[] {
  const fromDependencies = after.length > 0 ? `, and the outputs of ${after.map(labelOf).join(", ")}` : "";
  return [
    `reads ${files} files of ${bytes} bytes${fromDependencies}; writes ${outputs.map(oneLine).join(", ") || "no files"}`,
    `gets ${variables.map(oneLine).join(", ")}`,
    ...(action === undefined ? [] : [`action ${action}`]),
  ];
}

/** Lists the scripts of each shard. */
function describeShares({ number, count, split, shares }: Shard): string[] {
  const lines = shares.flatMap(({ own, needed, duration }, at) => {
    const expected = duration === undefined ? "" : `, ${formatDuration(duration)} of work`;
    return [
      `shard ${at + 1}/${count}${at + 1 === number ? ", this one" : ""}${expected}`,
      ...own.map((task) => `  ${labelOf(task)}`),
      ...needed.map((task) => `  ${labelOf(task)} (dependency)`),
    ];
  });
  return [...lines, `split ${split}`];
}

function renderJson(
  { tasks, waitsFor, dependsOn, cycles, notices, shard }: TaskPlan,
  request: TaskRequest,
  { reasons, placements, previews, unshared }: PlanFacts,
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
      ...(placements.has(task) && { where: placements.get(task) }),
      ...remoteInputsOf(previews.get(task)),
      ...(unshared && { shared: !unshared.has(task) }),
      ...rulesOf(task.rule),
      ...(request.permissions && { permissions: request.permissions.describe(task) }),
      steps: task.steps.map(({ scriptName, command, secrets }) => ({ script: scriptName, command, secrets })),
      waitsFor: (waitsFor[task.index] ?? []).map((index) => tasks[index]?.label),
      ...(dependsOn && { dependsOn: dependsOn[task.index]!.map((index) => tasks[index]!.label) }),
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

/** Lists which row of [tasks] set which keys. */
function describeRule(rule: TaskRule | undefined): string[] {
  const rows = Map.groupBy(Object.entries(rule?.sources ?? {}), ([, row]) => row);
  return [...rows].map(
    ([row, keys]) => `[tasks.${tomlKey(row)}]: ${keys.map(([key]) => keyNameOf(key)).join(", ")}`,
  );
}

function rulesOf(rule: TaskRule | undefined): object {
  if (!rule) return {};
  const { sources, timeout, ...options } = rule;
  const settings = { ...options, ...(timeout && { timeout: timeout.text }) };
  const rows = Object.entries(settings).map(([key, value]) => [
    keyNameOf(key),
    { value, row: sources[key as keyof typeof sources] },
  ]);
  return rows.length > 0 ? { settings: Object.fromEntries(rows) as object } : {};
}

/** `depends-on` for the field `dependsOn`. */
function keyNameOf(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function cacheOf(reason: CacheReason | undefined): object {
  if (!reason) return {};
  const { isHit, why, remote } = reason;
  return { cache: { result: isHit ? "hit" : "miss", why: oneLine(why), ...(remote && { remote }) } };
}

/** The shared cache may have an entry that is missing locally. */
function describeRemote({ isHit, remote }: CacheReason): string {
  if (isHit || remote === undefined) return "";
  return remote === "not asked"
    ? "; remote: not asked (use --cache=local:r,remote:r)"
    : `; remote: ${remote}`;
}

function remoteInputsOf(preview: RemotePreview | undefined): object {
  return preview ? { sent: { ...preview, after: preview.after.map(({ label }) => label) } } : {};
}

function describeStep({ command, isMain }: TaskStep, quotedArgs: readonly string[]): string {
  return isMain ? [command, ...quotedArgs].join(" ") : command;
}
