// Writes a trace event file (`--report=trace.json`) for ui.perfetto.dev and chrome://tracing.
//
// Invariants:
// - Concurrent scripts are in separate lanes (threads of the trace). Hooks are nested in their script.
// - Arrows lead from dependencies to dependents. Times are integer microseconds.
import { escapeJson } from "../../printable.ts";
import { VERSION } from "../../version.ts";
import type { Reporter } from "../../tasks/task-events.ts";
import type { TaskPlan } from "../../tasks/planning/plan.ts";
import type { TaskRequest } from "../../tasks/task.ts";
import type { ReportFile } from "./report-file.ts";
import { endOf, findWaits, type RecordedRun, RunRecord } from "./run-record.ts";
import { describeOutcome, labelOf, titleOf } from "../../tasks/labels.ts";

interface TraceEvent {
  readonly name: string;
  /** X is a duration, M a name, s and f are the ends of an arrow. */
  readonly ph: "X" | "M" | "s" | "f";
  readonly pid: number;
  readonly tid: number;
  readonly ts?: number;
  readonly dur?: number;
  readonly cat?: string;
  readonly id?: number;
  readonly bp?: "e";
  readonly args?: object;
}

const PROCESS = 1;

export function createTraceReporter(file: ReportFile, plan: TaskPlan, request: TaskRequest): Reporter {
  const record = new RunRecord();
  return {
    report: (event) => (event.type === "output" ? undefined : record.add(event)),
    async finish() {
      const run = record.finish();
      const trace = {
        displayTimeUnit: "ms",
        otherData: { version: `rt ${VERSION}`, startedAt: run.startedAt.toISOString() },
        traceEvents: describeRun(run, plan, titleOf(request)),
      };
      return await file.write(`${escapeJson(JSON.stringify(trace))}\n`);
    },
  };
}

function describeRun({ tasks }: RecordedRun, { waitsFor }: TaskPlan, title: string): TraceEvent[] {
  const lanes = chooseLanes(tasks);
  const waits = findWaits(tasks, waitsFor);
  const events: TraceEvent[] = [
    { name: "process_name", ph: "M", pid: PROCESS, tid: 0, args: { name: title } },
  ];
  for (let lane = 1; lane <= Math.max(0, ...lanes); lane++)
    events.push({ name: "thread_name", ph: "M", pid: PROCESS, tid: lane, args: { name: `lane ${lane}` } });
  let arrow = 0;
  for (const [index, recorded] of tasks.entries()) {
    const { task, outcome, start, steps } = recorded;
    const lane = { pid: PROCESS, tid: lanes[index]! };
    if (lane.tid === 0) continue; // the task never ran
    const [begin, end] = [micro(start), micro(endOf(recorded))];
    const saved = outcome.kind === "success" && outcome.saved !== undefined;
    const args = {
      outcome: outcome.kind,
      message: describeOutcome(outcome),
      waited: { until: micro(waits[index]!.ready) },
    };
    const cat = saved ? "cached" : "script";
    events.push({ name: labelOf(task), cat, ph: "X", ...lane, ts: begin, dur: end - begin, args });
    for (const each of steps) {
      const from = Math.max(begin, micro(each.start));
      const to = Math.min(end, each.duration === null ? end : micro(each.start + each.duration));
      const { scriptName, command } = each.step;
      events.push({
        name: scriptName,
        cat: "step",
        ph: "X",
        ...lane,
        ts: from,
        dur: Math.max(0, to - from),
        args: { command },
      });
    }
    for (const before of waits[index]!.before) {
      const flow = { name: "before", cat: "order", id: ++arrow };
      // Viewers attach an arrow to the event at its timestamp: the last moment of the dependency and the first of
      // the dependent.
      const ended = micro(endOf(tasks[before]!));
      if (lanes[before] === 0) continue;
      events.push({ ...flow, ph: "s", pid: PROCESS, tid: lanes[before]!, ts: Math.min(ended, begin) });
      events.push({ ...flow, ph: "f", bp: "e", ...lane, ts: begin });
    }
  }
  return events;
}

/** Lane numbers from 1: the first free lane at a task's start; 0 for tasks that never ran. */
function chooseLanes(tasks: RecordedRun["tasks"]): number[] {
  const lanes = tasks.map(() => 0);
  const free: number[] = [];
  const order = [...tasks.keys()].sort((a, b) => tasks[a]!.start - tasks[b]!.start || a - b);
  for (const index of order) {
    const task = tasks[index]!;
    if (task.steps.length === 0) continue;
    const begin = micro(task.start);
    let lane = free.findIndex((end) => end <= begin);
    if (lane < 0) lane = free.length;
    free[lane] = micro(endOf(task));
    lanes[index] = lane + 1;
  }
  return lanes;
}

function micro(milliseconds: number): number {
  return Math.round(milliseconds * 1000);
}
