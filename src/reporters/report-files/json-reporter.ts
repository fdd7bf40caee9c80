// Writes the JSON report of a run (`--report`): scripts in order, durations and outcomes.
//
// Invariants: the format is documented in docs/; `version` changes when a field changes its meaning. Times are
// milliseconds;
// `start` counts from `startedAt`.
import { escapeJson } from "../../printable.ts";
import type { Reporter, TaskEvent, TaskRefusal } from "../../tasks/task-events.ts";
import type { TaskStep, ScriptTask } from "../../tasks/task.ts";
import { endingFields, roundTime as round, taskFields } from "../task-fields.ts";
import type { ReportFile } from "./report-file.ts";

interface ReportedStep {
  readonly script: string;
  readonly command: string;
  readonly secrets?: TaskStep["secrets"];
  readonly start: number;
  duration: number | null;
  exitCode: number | null;
  signal: string | null;
}

function refusalFields({ kind, program, pid, target, allow }: TaskRefusal): object {
  return { kind, process: program, pid, target, ...(allow !== undefined && { allow }) };
}

export function createJsonReporter(file: ReportFile): Reporter {
  const startedAt = new Date();
  const started = performance.now();
  const steps = new Map<string, ReportedStep>();
  const readyTimes = new Map<ScriptTask, object>();
  /** The latest outcome of each task. */
  const tasks = new Map<ScriptTask, object>();
  const refusals: TaskRefusal[] = [];
  return {
    report(event: TaskEvent): void {
      if (event.type === "notice" && event.refused) refusals.push(event.refused);
      else if (event.type === "step-start") {
        const { scriptName: script, command, secrets } = event.step;
        steps.set(`${event.task.index} ${script}`, {
          script,
          command,
          ...(secrets && { secrets }),
          start: round(event.at),
          duration: null,
          exitCode: null,
          signal: null,
        });
      } else if (event.type === "step-end") {
        const step = steps.get(`${event.task.index} ${event.step.scriptName}`);
        if (!step) return;
        step.duration = round(event.duration);
        step.signal = event.exit.signal;
        step.exitCode = event.exit.signal === null ? event.exit.code : null;
      } else if (event.type === "ready") {
        readyTimes.set(event.task, { how: event.how, at: round(event.at), duration: round(event.duration) });
      } else if (event.type === "task-end") {
        const { task, at, duration } = event;
        const own = refusals.filter((each) => each.task === task);
        tasks.delete(task);
        tasks.set(task, {
          ...taskFields(task),
          ...(task.rule?.service && { ready: readyTimes.get(task) ?? null }),
          ...endingFields(event),
          start: round(at - duration),
          duration: round(duration),
          steps: task.steps.flatMap(({ scriptName }) => steps.get(`${task.index} ${scriptName}`) ?? []),
          ...(own.length > 0 && { refusals: own.map(refusalFields) }),
        });
      }
    },
    async finish() {
      const report = {
        version: 1,
        startedAt: startedAt.toISOString(),
        duration: round(performance.now() - started),
        tasks: [...tasks.values()],
      };
      return await file.write(`${escapeJson(JSON.stringify(report, null, 2))}\n`);
    },
  };
}
