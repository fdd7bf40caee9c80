// `--dry-run=html` and `--dry-run=mermaid`: the packages and scripts as they would run, and why they would.
import { oneLine, printable } from "../../printable.ts";
import { VERSION } from "../../version.ts";
import { renderDocument } from "../page/document.ts";
import type { PlanData } from "../page/plan-data.ts";
import type { Plan } from "../plan.ts";
import type { CacheReason, Task, TaskRequest } from "../task.ts";
import { drawGraph } from "./layout.ts";
import { describeCount, describeNeed, labelOf, titleOf } from "./wording.ts";
import { plan as parts } from "rt:pages";

/**
 * @param choices why each is one of them: sentences by task
 * @param cached of the scripts that are cached
 */
export function renderGraph(
  plan: Plan,
  request: TaskRequest,
  choices: readonly (readonly string[])[],
  cached: ReadonlyMap<Task, CacheReason>,
  format: "html" | "mermaid",
): string {
  const reasons = plan.tasks.map((task, index) => {
    const reason = cached.get(task);
    return [...choices[index]!, ...(reason ? [describeNeed(reason.isHit, reason.why)] : [])];
  });
  if (format === "mermaid") return renderMermaid(plan, request, reasons);
  const needless = plan.tasks.filter((task) => cached.get(task)?.isHit).length;
  const data = describePlan(plan, request, reasons, describeCount(plan.tasks.length, needless));
  return renderDocument(
    data.title,
    data,
    parts,
    "<noscript>Allow scripts for this page: one draws it.</noscript>",
  );
}

/** How wide a line of text is drawn, about. */
const CHARACTER = 7.5; // px
const SMALL_CHARACTER = 6.2;
const LONGEST = 300;

function describePlan(
  plan: Plan,
  request: TaskRequest,
  reasons: readonly (readonly string[])[],
  count: string,
): PlanData {
  const { relative } = process.getBuiltinModule("node:path");
  const { tasks, cycles, notices } = plan;
  const widths = tasks.map((task, index) => {
    const label = Bun.stringWidth(labelOf(task)) * CHARACTER;
    const reason = Bun.stringWidth(reasons[index]![0] ?? "") * SMALL_CHARACTER;
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
    notices: [...notices.map(oneLine), ...loops],
    tasks: tasks.map((task, index) => ({
      label: labelOf(task),
      directory: printable(relative(request.cwd, task.packageDirectory)),
      commands: task.steps.map(({ command }) => oneLine(command)),
      reasons: reasons[index]!,
      before: waitsFor(plan, index, request),
    })),
    drawing: drawGraph(
      widths,
      tasks.map((_, index) => waitsFor(plan, index, request)),
    ),
  };
}

function waitsFor(plan: Plan, index: number, { sequential }: TaskRequest): readonly number[] {
  if (sequential) return index > 0 ? [index - 1] : [];
  return plan.waitsFor[index] ?? [];
}

function renderMermaid(plan: Plan, request: TaskRequest, reasons: readonly (readonly string[])[]): string {
  const { tasks } = plan;
  const nodes = tasks.map((task, index) => {
    const lines = [labelOf(task), ...reasons[index]!].map(escapeMermaid);
    return `  t${index}["${lines.join("<br/>")}"]`;
  });
  const arrows = tasks.flatMap((_, index) =>
    waitsFor(plan, index, request).map((from) => `  t${from} --> t${index}`),
  );
  return `${["flowchart LR", ...nodes, ...arrows].join("\n")}\n`;
}

/** Everything that might mean something there is a number: brackets, quotes, Markdown, words that end a diagram. */
function escapeMermaid(text: string): string {
  return text.replace(/[^\p{Letter}\p{Number} ,/.-]/gu, (character) => `#${character.codePointAt(0)};`);
}
