// Records the events of a run for reports that are written at its end (page, trace, JUnit).
//
// Invariants:
// - Times are milliseconds since the start of the run.
// - Output is already redacted. If a run writes much, only the beginning and end of each script's output are kept.
// - The last run of a task that ran several times counts.
import type { TaskEvent } from "../../tasks/task-events.ts";
import type { TaskStep, ScriptTask, TaskOutcome } from "../../tasks/task.ts";
import type { Placement } from "../../tasks/execution/placement.ts";
import { TruncatedOutput } from "./truncated-output.ts";

/** Bytes of output over all scripts of a run. Above it, output of successful scripts is truncated further. */
const MAX_FULL_OUTPUT = 24 << 20;

export interface RecordedStep {
  readonly step: TaskStep;
  readonly start: number;
  /** Null if no end was reported. */
  duration: number | null;
  /** Set if the step was a cache hit: the saved time in milliseconds. */
  saved?: number | undefined;
}

export interface RecordedTask {
  readonly task: ScriptTask;
  readonly outcome: TaskOutcome;
  readonly start: number;
  readonly duration: number;
  readonly steps: readonly RecordedStep[];
  readonly output: TruncatedOutput;
  /** The cache hit or miss reason, if the script has a cache rule. */
  readonly why?: string | undefined;
  /** Set if tasks of the run may be remote. */
  readonly where?: Placement | undefined;
  /** The machine that ran it, in a shared run. */
  readonly machine?: string | undefined;
  /** Refusals by its permissions; sentences. */
  readonly refusals: readonly string[];
}

export interface RecordedRun {
  readonly startedAt: Date;
  readonly duration: number;
  /** In plan order. */
  readonly tasks: readonly RecordedTask[];
  readonly notices: readonly string[];
}

interface RunningRecord {
  readonly steps: RecordedStep[];
  readonly output: TruncatedOutput;
  readonly refusals: string[];
}

export class RunRecord {
  readonly #startedAt = new Date();
  readonly #started = performance.now();
  readonly #running = new Map<ScriptTask, RunningRecord>();
  readonly #ended = new Map<ScriptTask, RecordedTask>();
  readonly #notices: string[] = [];
  #size = 0;

  add(event: TaskEvent): void {
    switch (event.type) {
      case "step-start":
        return void this.#of(event.task).steps.push({ step: event.step, start: event.at, duration: null });
      case "output":
        return this.#of(event.task).output.append(event.bytes);
      case "step-end": {
        const step = this.#of(event.task).steps.findLast((each) => each.step === event.step);
        if (step) Object.assign(step, { duration: event.duration, saved: event.saved });
        return;
      }
      case "task-end": {
        const { task, outcome, at, duration, why, where, machine } = event;
        const { steps, output, refusals } = this.#of(task);
        this.#running.delete(task);
        output.trim();
        if (outcome.kind === "success" && this.#size > MAX_FULL_OUTPUT) output.shorten();
        this.#size += output.size - (this.#ended.get(task)?.output.size ?? 0);
        return void this.#ended.set(task, {
          task,
          outcome,
          start: at - duration,
          duration,
          steps,
          output,
          why,
          where,
          machine,
          refusals,
        });
      }
      case "notice":
        if (event.refused) return void this.#of(event.refused.task).refusals.push(event.message);
        return void this.#notices.push(event.message);
      case "remark":
      case "ready":
      case "again":
      case "interrupt":
      case "suspend":
      case "resume":
        return;
    }
  }

  finish(): RecordedRun {
    return {
      startedAt: this.#startedAt,
      duration: performance.now() - this.#started,
      tasks: [...this.#ended.values()].sort((a, b) => a.task.index - b.task.index),
      notices: this.#notices,
    };
  }

  #of(task: ScriptTask): RunningRecord {
    let running = this.#running.get(task);
    if (!running)
      this.#running.set(task, (running = { steps: [], output: new TruncatedOutput(), refusals: [] }));
    return running;
  }
}

/** For each task, by position: the end of its last dependency, which one that was, and all dependencies. */
export function findWaits(
  tasks: readonly RecordedTask[],
  waitsFor: readonly (readonly number[])[],
): { readonly ready: number; readonly last: number | undefined; readonly before: readonly number[] }[] {
  const positions = new Map(tasks.map(({ task }, position) => [task.index, position]));
  return tasks.map(({ task }) => {
    const before = (waitsFor[task.index] ?? []).flatMap((index) => positions.get(index) ?? []);
    let last: number | undefined;
    for (const each of before)
      if (last === undefined || endOf(tasks[each]!) > endOf(tasks[last]!)) last = each;
    return { ready: last === undefined ? 0 : endOf(tasks[last]!), last, before };
  });
}

export function endOf({ start, duration }: RecordedTask): number {
  return start + duration;
}
