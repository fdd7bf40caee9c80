// Renders a plan as text or JSON (`--dry-run`), in start order.
import { colorLabel } from "../../output.ts";
import { tomlKey } from "../../config-hint.ts";
import type { TaskRule } from "../../config/tasks/task-rules.ts";
import { escapeJson, oneLine, printable } from "../../printable.ts";
import type { TaskCause, TaskSelection } from "../../tasks/planning/affected-tasks.ts";
import type { TaskPlan } from "../../tasks/planning/plan.ts";
import { describeCause } from "../../tasks/planning/selection-reasons.ts";
import type { Shard } from "../../tasks/planning/shard.ts";
import { findUnneededServices } from "../../tasks/services/service-demand.ts";
import type { CacheReason } from "../../tasks/task-cache.ts";
import { taskId, type TaskStep, type ScriptTask, type TaskRequest } from "../../tasks/task.ts";
import type { RemotePreview, Placement } from "../../tasks/execution/placement.ts";
import {
  describeCount,
  describePlacement,
  describeCacheReason,
  formatDuration,
  labelOf,
  taskNameOf,
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
  { tasks, waitsFor, cycles, notices, shard, packages, selection }: TaskPlan,
  { quote, permissions }: TaskRequest,
  { reasons, placements, previews, unshared }: PlanFacts,
): string {
  const unneeded = findUnneededServices({ tasks, waitsFor }, (task) => reasons.get(task)?.isHit ?? false);
  const lines = notices.map((notice) => colorLabel(`warning: ${oneLine(notice)}`, 1));
  for (const cycle of cycles)
    lines.push(
      colorLabel(`warning: circular dependency ${[...cycle, cycle[0]!].map(printable).join(" -> ")}`, 1),
    );
  const labels = tasks.map(labelOf);
  // Most tasks of a name have the same rule.
  const ruleLines = new Map<TaskRule | undefined, readonly string[]>();
  for (const { rule } of tasks)
    if (!ruleLines.has(rule))
      ruleLines.set(
        rule,
        describeRule(rule).map((line) => `  ${line}`),
      );
  for (const task of tasks) {
    const before = (waitsFor[task.index] ?? []).map((index) => labels[index]);
    lines.push(`${labels[task.index]}${before.length > 0 ? ` (after ${before.join(", ")})` : ""}`);
    const affected = selection?.causes.get(taskId(task));
    if (affected) lines.push(`  ${describeCause(affected, packages!)}`);
    const reason = reasons.get(task);
    if (reason) lines.push(`  ${describeReason(reason)}`);
    if (unneeded.has(task.index)) lines.push("  not needed: the tasks that depend on it are cached");
    const where = placements.get(task);
    if (where && where.place !== "cache") lines.push(`  runs ${describePlacement(where)}`);
    const why = unshared?.get(task);
    if (why !== undefined) lines.push(`  on each machine: ${oneLine(why)}`);
    lines.push(...ruleLines.get(task.rule)!);
    lines.push(...(permissions?.describe(task) ?? []).map((line) => `  ${line}`));
    for (const step of task.steps) {
      lines.push(`  $ ${oneLine(describeStep(step, task.args.map(quote)))}`);
      for (const { name, source } of step.secrets ?? []) lines.push(`    ${name} from ${source}`);
    }
    const preview = previews.get(task);
    if (preview) lines.push(...describePreview(preview).map((line) => `    ${line}`));
  }
  const needless = tasks.filter((task) => reasons.get(task)?.isHit).length;
  const leftOut = selection ? describeLeftOut(selection) : [];
  if (leftOut.length > 0) lines.push(...(lines.length > 0 ? [""] : []), ...leftOut);
  const shards = shard ? ["", ...describeShares(shard)] : [];
  return `${[...lines, "", describeCount(tasks.length, needless, unneeded.size), ...shards].join("\n")}\n`;
}

/** The tasks that are not affected, by what decided. */
function describeLeftOut({ leftOut }: TaskSelection): string[] {
  const groups = Map.groupBy(leftOut, ({ isRecorded }) => isRecorded);
  return [...groups].map(
    ([isRecorded, group]) =>
      `not affected, decided by ${isRecorded ? "recorded inputs" : "packages"}: ${group.map(({ task }) => taskNameOf(task)).join(", ")}`,
  );
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
  { tasks, waitsFor, dependsOn, cycles, notices, shard, packages, selection }: TaskPlan,
  request: TaskRequest,
  { reasons, placements, previews, unshared }: PlanFacts,
): string {
  const labels = tasks.map(({ label }) => label);
  // Most tasks of a name have the same rule.
  const rules = new Map<TaskRule | undefined, object>();
  for (const { rule } of tasks) if (!rules.has(rule)) rules.set(rule, rulesOf(rule));
  const plan = {
    version: 1,
    mode: request.parallel ? "parallel" : request.sequential ? "sequential" : "ordered",
    tasks: tasks.map((task) => ({
      label: task.label,
      package: task.packageName === "" ? null : task.packageName,
      directory: task.packageDirectory,
      script: task.scriptName,
      args: task.args,
      ...affectedOf(selection?.causes.get(taskId(task)), packages),
      ...cacheOf(reasons.get(task)),
      ...(placements.has(task) && { where: placements.get(task) }),
      ...remoteInputsOf(previews.get(task)),
      ...(unshared && { shared: !unshared.has(task) }),
      ...rules.get(task.rule),
      ...(request.permissions && { permissions: request.permissions.describe(task) }),
      steps: task.steps.map(({ scriptName, command, secrets }) => ({ script: scriptName, command, secrets })),
      waitsFor: (waitsFor[task.index] ?? []).map((index) => labels[index]),
      ...(dependsOn && { dependsOn: dependsOn[task.index]!.map((index) => labels[index]) }),
    })),
    ...(selection && {
      unaffected: selection.leftOut.map(({ task, isRecorded }) => ({
        label: task.label,
        decidedBy: isRecorded ? "inputs" : "package",
      })),
    }),
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

function affectedOf(cause: TaskCause | undefined, packages: TaskPlan["packages"]): object {
  return cause ? { affected: describeCause(cause, packages!) } : {};
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
