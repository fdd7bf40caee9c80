// The fields of a task and of its end in JSON output: the report file and JSON lines.
import { oneLine } from "../printable.ts";
import { describeOutcome } from "../tasks/labels.ts";
import type { Placement } from "../tasks/execution/placement.ts";
import type { TaskEvent } from "../tasks/task-events.ts";
import type { ScriptTask, TaskOutcome } from "../tasks/task.ts";

export function taskFields(task: ScriptTask): object {
  return {
    package: task.packageName === "" ? null : task.packageName,
    directory: task.packageDirectory,
    script: task.scriptName,
    ...(task.rule?.service && { service: true }),
    ...(task.rule?.interactive && { interactive: true }),
  };
}

export function endingFields(event: Extract<TaskEvent, { type: "task-end" }>): object {
  const { outcome, why, where, machine } = event;
  return {
    outcome: outcome.kind,
    message: describeOutcome(outcome),
    ...detailOf(outcome),
    ...(why !== undefined && { why: oneLine(why) }),
    ...(where && { where: placementOf(where) }),
    ...(machine !== undefined && { machine: oneLine(machine) }),
  };
}

function placementOf({ place, why, server, machine }: Placement): object {
  return { place, why: oneLine(why), server, machine: machine === undefined ? undefined : oneLine(machine) };
}

function detailOf(outcome: TaskOutcome): object {
  switch (outcome.kind) {
    case "success":
      return {
        ...(outcome.isStopped || outcome.isUnneeded ? {} : { exitCode: 0 }),
        ...(outcome.isStopped && { stopped: true }),
        ...(outcome.isUnneeded && { started: false }),
        ...(outcome.saved !== undefined && { saved: roundTime(outcome.saved) }),
        ...(outcome.retries !== undefined && { flaky: true, retries: outcome.retries }),
      };
    case "failure":
      return {
        exitCode: outcome.code,
        ...(outcome.reason !== undefined && { reason: oneLine(outcome.reason) }),
        ...(outcome.timeout !== undefined && { timeout: outcome.timeout }),
      };
    case "unstartable":
      return { exitCode: outcome.code };
    case "signal":
      return { signal: outcome.signal };
    case "skipped":
      return { because: outcome.because.label };
    case "stopped":
      return outcome.because ? { because: outcome.because.label } : {};
  }
}

export function roundTime(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000;
}
