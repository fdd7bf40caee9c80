// Prints the summary of a run with several scripts: counts by outcome, failures and the slowest scripts. It goes to
// stderr, so that the output of scripts can be piped.
import type { Reporter, TaskEvent } from "../../tasks/task-events.ts";
import type { ScriptTask, TaskOutcome } from "../../tasks/task.ts";
import type { OutputQueue } from "../../tasks/output-queue.ts";
import { describeOutcome, formatDuration, isFailure, labelOf } from "../../tasks/labels.ts";

interface TaskSummary {
  readonly task: ScriptTask;
  readonly outcome: TaskOutcome;
  readonly duration: number;
}

const SLOWEST = 3;

export function createSummaryReporter(queue: OutputQueue, useColor: boolean): Reporter {
  /** The latest outcome of each task. */
  const last = new Map<ScriptTask, TaskSummary>();
  let end = 0;
  return {
    report(event: TaskEvent): void {
      if (event.type !== "task-end") return;
      last.delete(event.task);
      last.set(event.task, event);
      end = Math.max(end, event.at);
    },
    finish() {
      const results = [...last.values()];
      if (results.length > 1) void queue.write(2, renderSummary(results, end, useColor));
    },
  };
}

/** @param total duration of the run in milliseconds */
function renderSummary(results: readonly TaskSummary[], total: number, useColor: boolean): string {
  const count = (kind: (outcome: TaskOutcome) => boolean) =>
    results.filter(({ outcome }) => kind(outcome)).length;
  const counts = [
    [count(({ kind }) => kind === "success"), "succeeded"],
    [count(isFailure), "failed"],
    [count(({ kind }) => kind === "skipped"), "skipped"],
    [count(({ kind }) => kind === "stopped"), "stopped"],
  ] as const;
  const summary = counts.filter(([number]) => number > 0).map(([number, word]) => `${number} ${word}`);
  const paint = (code: number, text: string) => (useColor ? `\x1b[${code}m${text}\x1b[0m` : text);
  const lines = [`\n${results.length} scripts in ${formatDuration(total)}: ${summary.join(", ")}`];
  for (const { task, outcome } of results.filter((result) => isFailure(result.outcome))) {
    lines.push(`${paint(31, "Failed:")}  ${labelOf(task)} (${describeOutcome(outcome)})`);
  }
  const flaky = results.filter(({ outcome }) => outcome.kind === "success" && outcome.retries !== undefined);
  for (const { task, outcome } of flaky)
    lines.push(`${paint(33, "Flaky:")}   ${labelOf(task)} (${describeOutcome(outcome)})`);
  const slowest = results
    .filter(({ duration }) => duration > 0)
    .sort((a, b) => b.duration - a.duration || a.task.index - b.task.index);
  if (slowest.length > 1) {
    const list = slowest
      .slice(0, SLOWEST)
      .map(({ task, duration }) => `${labelOf(task)} (${formatDuration(duration)})`);
    lines.push(`Slowest: ${list.join(", ")}`);
  }
  return `${lines.join("\n")}\n`;
}
