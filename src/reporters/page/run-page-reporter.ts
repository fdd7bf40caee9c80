// Writes the HTML report of a run (`--report=run.html`).
import { oneLine, printable } from "../../printable.ts";
import { VERSION } from "../../version.ts";
import type { Reporter } from "../../tasks/task-events.ts";
import { findCriticalPath } from "../../tasks/planning/critical-path.ts";
import type { TaskPlan } from "../../tasks/planning/plan.ts";
import { renderDocument } from "./document.ts";
import type { RunData, RunTask, TaskStatus } from "./run-data.ts";
import type { TaskRequest, TaskOutcome } from "../../tasks/task.ts";
import type { ReportFile } from "../report-files/report-file.ts";
import { findWaits, type RecordedRun, RunRecord } from "../report-files/run-record.ts";
import { describeOutcome, describePlacement, labelOf, titleOf } from "../../tasks/labels.ts";
import { run as parts } from "rt:pages";

export function createPageReporter(
  file: ReportFile,
  plan: TaskPlan,
  request: TaskRequest,
  limit: number,
): Reporter {
  const record = new RunRecord();
  return {
    report: (event) => record.add(event),
    async finish() {
      const data = describeRun(record.finish(), plan, request, limit);
      return await file.write(renderDocument(data.title, data, parts));
    },
  };
}

function describeRun(run: RecordedRun, plan: TaskPlan, request: TaskRequest, limit: number): RunData {
  const { relative } = process.getBuiltinModule("node:path");
  const waits = findWaits(run.tasks, plan.waitsFor);
  const critical = findCriticalPath(
    run.tasks.map(({ duration }) => duration),
    request.sequential
      ? run.tasks.map((_, index) => (index > 0 ? [index - 1] : []))
      : waits.map(({ before }) => before),
  );
  const isCritical = new Set(critical.tasks);
  const tasks = run.tasks.map((recorded, index): RunTask => {
    const { task, outcome, start, duration, steps, output, why, where, machine, refusals } = recorded;
    const { ready, last, before } = waits[index]!;
    const text = output.read();
    return {
      label: labelOf(task),
      directory: printable(relative(request.cwd, task.packageDirectory)),
      state: STATES[outcome.kind === "success" && outcome.saved !== undefined ? "cached" : outcome.kind],
      message: describeOutcome(outcome),
      ...(why !== undefined && { why: oneLine(why) }),
      ...(where && where.place !== "cache" && { where: describePlacement(where) }),
      ...(machine !== undefined && { machine: oneLine(machine) }),
      ...(refusals.length > 0 && { refusals: refusals.map(oneLine) }),
      start: round(start),
      duration: round(duration),
      isCritical: isCritical.has(index),
      ready: round(ready),
      before,
      ...(last !== undefined && { last }),
      steps: steps.map(({ step, duration }) => ({
        script: printable(step.scriptName),
        command: oneLine(step.command),
        duration: duration === null ? null : round(duration),
        secrets: (step.secrets ?? []).map(({ name }) => printable(name)),
      })),
      output: text.beginning,
      omitted: text.omitted,
      outputEnd: text.end,
    };
  });
  return {
    title: titleOf(request),
    version: VERSION,
    startedAt: run.startedAt.toISOString(),
    duration: round(run.duration),
    critical: round(critical.duration),
    ...(limit < tasks.length && { limit }),
    isSequential: request.sequential,
    notices: run.notices.map(oneLine),
    tasks,
  };
}

const STATES: Readonly<Record<TaskOutcome["kind"] | "cached", TaskStatus>> = {
  success: "executed",
  cached: "cached",
  failure: "failed",
  signal: "failed",
  unstartable: "failed",
  skipped: "skipped",
  stopped: "stopped",
};

function round(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10;
}
