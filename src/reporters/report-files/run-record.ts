// What happened in a run, kept to be told at its end: as a page, as a trace, as JUnit's XML.
//
// Contract: times are milliseconds since the run began. What scripts wrote is what every reporter gets, after the values of
// secrets were taken out; of a run that wrote much the beginning and the end of each script's are kept. Of a task that has
// run again, the last time.
import type { TaskEvent } from "../../tasks/task-events.ts";
import type { TaskStep, ScriptTask, TaskOutcome } from "../../tasks/task.ts";
import type { Placement } from "../../tasks/execution/placement.ts";
import { KeptOutput } from "./truncated-output.ts";

/** Bytes of output, over all scripts of a run: from there on those that succeed are shortened. */
const MUCH = 24 << 20;

export interface RecordedStep {
  readonly step: TaskStep;
  readonly start: number;
  /** Null where it was not seen to end. */
  duration: number | null;
  /** It was not run: this much time was saved. */
  saved?: number | undefined;
}

export interface RecordedTask {
  readonly task: ScriptTask;
  readonly outcome: TaskOutcome;
  readonly start: number;
  readonly duration: number;
  readonly steps: readonly RecordedStep[];
  readonly output: KeptOutput;
  /** Of a script that is cached: why it ran, or by what it was found. */
  readonly why?: string | undefined;
  /** In a run of which something may run elsewhere. */
  readonly where?: Placement | undefined;
  /** Of a run on several machines: whose it was. */
  readonly machine?: string | undefined;
}

export interface RecordedRun {
  readonly startedAt: Date;
  readonly duration: number;
  /** In plan order. */
  readonly tasks: readonly RecordedTask[];
  readonly notices: readonly string[];
}

interface Running {
  readonly steps: RecordedStep[];
  readonly output: KeptOutput;
}

export class RunRecord {
  readonly #startedAt = new Date();
  readonly #started = performance.now();
  readonly #running = new Map<ScriptTask, Running>();
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
        const { steps, output } = this.#of(task);
        this.#running.delete(task);
        output.trim();
        if (outcome.kind === "success" && this.#size > MUCH) output.shorten();
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
        });
      }
      case "notice":
        return void this.#notices.push(event.message);
      case "remark":
      case "again":
      case "interrupt":
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

  #of(task: ScriptTask): Running {
    let running = this.#running.get(task);
    if (!running) this.#running.set(task, (running = { steps: [], output: new KeptOutput() }));
    return running;
  }
}

/** Why it began no sooner: when what it waited for had ended, and which of that was last. By position in `tasks`. */
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
