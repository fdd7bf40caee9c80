// Renders a plan as an HTML page or a Mermaid diagram (`--dry-run=html`, `--dry-run=mermaid`).
import { oneLine, printable } from "../../printable.ts";
import { VERSION } from "../../version.ts";
import { renderDocument } from "../page/document.ts";
import type { PlanData } from "../page/plan-data.ts";
import type { TaskPlan } from "../../tasks/planning/plan.ts";
import type { CacheReason } from "../../tasks/task-cache.ts";
import type { ScriptTask, TaskRequest } from "../../tasks/task.ts";
import { drawGraph } from "./graph-layout.ts";
import { describeCount, describeCacheReason, labelOf, titleOf } from "../../tasks/labels.ts";
import { plan as parts } from "rt:pages";

/**
 * @param selectionReasons sentences that explain why the plan contains a task, by task
 * @param cached results of the cache lookups
 */
export function renderGraph(
  plan: TaskPlan,
  request: TaskRequest,
  selectionReasons: readonly (readonly string[])[],
  cached: ReadonlyMap<ScriptTask, CacheReason>,
  format: "html" | "mermaid",
): string {
  const common = findCommon(selectionReasons);
  const facts = plan.tasks.map((task, index): TaskFacts => {
    const reason = cached.get(task);
    const own = selectionReasons[index]!.filter((each) => !common.includes(each));
    // The cache reason differs between tasks more often than the selection reason, so it comes first.
    return {
      isHit: reason?.isHit ?? false,
      reasons: [...(reason ? [describeCacheReason(reason.isHit, reason.why)] : []), ...own],
    };
  });
  if (format === "mermaid") return renderMermaid(plan, request, facts, common);
  const needless = facts.filter(({ isHit }) => isHit).length;
  const data = describePlan(plan, request, facts, common, describeCount(plan.tasks.length, needless));
  return renderDocument(data.title, data, parts);
}

interface TaskFacts {
  readonly isHit: boolean;
  readonly reasons: readonly string[];
}

/** Reasons that all tasks share. They are shown once. */
function findCommon([first = [], ...rest]: readonly (readonly string[])[]): readonly string[] {
  return rest.length === 0 ? [] : first.filter((reason) => rest.every((each) => each.includes(reason)));
}

/** Approximate width of a character. */
const CHARACTER = 7.5; // px
const SMALL_CHARACTER = 6.2;
const MAX_WIDTH = 300;

function describePlan(
  plan: TaskPlan,
  request: TaskRequest,
  facts: readonly TaskFacts[],
  common: readonly string[],
  count: string,
): PlanData {
  const { relative } = process.getBuiltinModule("node:path");
  const { tasks, cycles, notices } = plan;
  const widths = tasks.map((task, index) => {
    const label = Bun.stringWidth(labelOf(task)) * CHARACTER;
    const reason = Bun.stringWidth(facts[index]!.reasons[0] ?? "") * SMALL_CHARACTER;
    return Math.ceil(Math.min(MAX_WIDTH, Math.max(label, reason)) + 24);
  });
  const loops = cycles.map(
    (cycle) => `circular dependency ${[...cycle, cycle[0]!].map(printable).join(" -> ")}`,
  );
  return {
    title: `${titleOf(request)}: the plan`,
    version: VERSION,
    count,
    mode: request.parallel
      ? "all at once"
      : request.sequential
        ? "one after another"
        : "in order of dependencies",
    common,
    notices: [...notices.map(oneLine), ...loops],
    tasks: tasks.map((task, index) => ({
      label: labelOf(task),
      directory: printable(relative(request.cwd, task.packageDirectory)),
      commands: task.steps.map(({ command }) => oneLine(command)),
      ...facts[index]!,
      before: waitsFor(plan, index, request),
    })),
    drawing: drawGraph(
      widths,
      tasks.map((_, index) => waitsFor(plan, index, request)),
    ),
  };
}

function waitsFor(plan: TaskPlan, index: number, { sequential }: TaskRequest): readonly number[] {
  if (sequential) return index > 0 ? [index - 1] : [];
  return plan.waitsFor[index] ?? [];
}

function renderMermaid(
  plan: TaskPlan,
  request: TaskRequest,
  facts: readonly TaskFacts[],
  common: readonly string[],
): string {
  const { tasks } = plan;
  const nodes = tasks.map((task, index) => {
    const { isHit, reasons } = facts[index]!;
    const lines = [labelOf(task), ...reasons].map(escapeMermaid);
    return `  t${index}["${lines.join("<br/>")}"]${isHit ? ":::cached" : ""}`;
  });
  const arrows = tasks.flatMap((_, index) =>
    waitsFor(plan, index, request).map((from) => `  t${from} --> t${index}`),
  );
  const comments = common.map((reason) => `  %% all: ${escapeMermaid(reason)}`);
  const styles = facts.some(({ isHit }) => isHit) ? ["  classDef cached stroke-dasharray:5"] : [];
  return `${["flowchart LR", ...comments, ...nodes, ...arrows, ...styles].join("\n")}\n`;
}

/**
 * Encodes all characters that may have a meaning in Mermaid as character codes: brackets, quotes, Markdown,
 * keywords.
 */
function escapeMermaid(text: string): string {
  return text.replace(/[^\p{Letter}\p{Number} ,/.-]/gu, (character) => `#${character.codePointAt(0)};`);
}
