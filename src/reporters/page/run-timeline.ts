// Renders the timeline of a run: an axis and a row for each script.
import { formatDuration } from "../../tasks/labels.ts";
import { element } from "./elements.ts";
import type { RunData, RunTask, TaskStatus } from "./run-data.ts";
import { createDetails } from "./run-details.ts";

export const NAMES: Readonly<Record<TaskStatus, string>> = {
  failed: "failed",
  executed: "executed",
  cached: "from the cache",
  skipped: "skipped",
  stopped: "stopped",
};

export interface TimelineRow {
  readonly task: RunTask;
  readonly item: HTMLElement;
  readonly details: HTMLDetailsElement;
  readonly summary: HTMLElement;
}

/** Milliseconds of the whole width. */
export function scaleOf({ duration, tasks }: RunData): number {
  return Math.max(duration, ...tasks.map((task) => task.start + task.duration), 1);
}

/** An axis with about five ticks at round times. */
export function createAxis(total: number): HTMLElement {
  const rough = total / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough)!;
  const track = element("span", { class: "track" });
  for (let time = 0; time <= total; time += step) {
    const tick = element("i", { class: "tick" }, time === 0 ? "0" : formatDuration(time));
    tick.style.left = percent(time, total);
    track.append(tick);
  }
  return element(
    "div",
    { class: "axis", "aria-hidden": "true" },
    element("span", { class: "name" }),
    track,
    element("span", { class: "time" }),
  );
}

function percent(time: number, total: number): string {
  return `${((time / total) * 100).toFixed(3)}%`;
}

export function createRow(task: RunTask, data: RunData, total: number): TimelineRow {
  const { label, state, start, duration, ready, isCritical } = task;
  const track = element("span", { class: "track", "aria-hidden": "true" });
  if (task.steps.length > 0) {
    const bar = element("i", { class: "bar" });
    bar.style.left = percent(start, total);
    bar.style.width = percent(duration, total);
    const wait = element("i", { class: "wait" });
    wait.style.left = percent(Math.min(ready, start), total);
    wait.style.width = percent(Math.max(0, start - ready), total);
    track.append(wait, bar);
  }
  const description = `, ${NAMES[state]}${isCritical ? ", on the critical path" : ""}, `;
  const summary = element(
    "summary",
    {},
    element("span", { class: "name" }, label, element("span", { class: "unseen" }, description)),
    track,
    element("span", { class: "time" }, task.steps.length > 0 ? formatDuration(duration) : "–"),
  );
  const details = element("details", {}, summary);
  const item = element("li", { class: `${state}${isCritical ? " critical" : ""}` }, details);
  const row = { task, item, details, summary };
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) details.append(createDetails(task, data));
  });
  return row;
}
