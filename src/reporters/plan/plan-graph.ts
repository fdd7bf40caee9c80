// `--dry-run=html` and `--dry-run=mermaid`: the packages and scripts as they would run, and why they would.
import { oneLine, printable } from "../../printable.ts";
import { VERSION } from "../../version.ts";
import { renderDocument } from "../page/document.ts";
import type { PlanData } from "../page/plan-data.ts";
import type { TaskPlan } from "../../tasks/planning/plan.ts";
import type { CacheReason, ScriptTask, TaskRequest } from "../../tasks/task.ts";
import { drawGraph } from "./graph-layout.ts";
import { describeCount, describeCacheReason, labelOf, titleOf } from "../../tasks/labels.ts";
import { plan as parts } from "rt:pages";

/**
 * @param choices why each is one of them: sentences by task
 * @param cached of the scripts that are cached
 */
export function renderGraph(
  plan: TaskPlan,
  request: TaskRequest,
  choices: readonly (readonly string[])[],
  cached: ReadonlyMap<ScriptTask, CacheReason>,
  format: "html" | "mermaid",
): string {
  const common = findCommon(choices);
  const facts = plan.tasks.map((task, index): Facts => {
    const reason = cached.get(task);
    const own = choices[index]!.filter((each) => !common.includes(each));
    // Whether it runs differs from task to task more often than why it was chosen.
    return {
      isHit: reason?.isHit ?? false,
      reasons: [...(reason ? [describeCacheReason(reason.isHit, reason.why)] : []), ...own],
    };
  });
  if (format === "mermaid") return renderMermaid(plan, request, facts, common);
  const needless = facts.filter(({ isHit }) => isHit).length;
  const data = describePlan(plan, request, facts, common, describeCount(plan.tasks.length, needless));
  return renderDocument(
    data.title,
    data,
    parts,
    "<noscript>Allow scripts for this page: one draws it.</noscript>",
  );
}

interface Facts {
  readonly isHit: boolean;
  readonly reasons: readonly string[];
}

/** Reasons that every task has, where there are several: they would only be repeated. */
function findCommon([first = [], ...rest]: readonly (readonly string[])[]): readonly string[] {
  return rest.length === 0 ? [] : first.filter((reason) => rest.every((each) => each.includes(reason)));
}

/** How wide a line of text is drawn, about. */
const CHARACTER = 7.5; // px
const SMALL_CHARACTER = 6.2;
const LONGEST = 300;

function describePlan(
  plan: TaskPlan,
  request: TaskRequest,
  facts: readonly Facts[],
  common: readonly string[],
  count: string,
): PlanData {
  const { relative } = process.getBuiltinModule("node:path");
  const { tasks, cycles, notices } = plan;
  const widths = tasks.map((task, index) => {
    const label = Bun.stringWidth(labelOf(task)) * CHARACTER;
    const reason = Bun.stringWidth(facts[index]!.reasons[0] ?? "") * SMALL_CHARACTER;
    return Math.ceil(Math.min(LONGEST, Math.max(label, reason)) + 24);
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
  facts: readonly Facts[],
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

/** Everything that might mean something there is a number: brackets, quotes, Markdown, words that end a diagram. */
function escapeMermaid(text: string): string {
  return text.replace(/[^\p{Letter}\p{Number} ,/.-]/gu, (character) => `#${character.codePointAt(0)};`);
}
