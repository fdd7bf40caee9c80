// Shows the output of each task in one piece at the task's end (`--output=grouped`), or only if the task has failed
// (`--output=errors`). Another reporter formats it.
//
// Invariants:
// - Groups do not mix: the next one begins when the queue has accepted the one before.
// - Both streams of a task are shown in the order of arrival, on standard output.
// - The oldest output of a task is dropped, with a note, if neither memory nor the temporary folder can hold it.
import { isFailure } from "../../tasks/labels.ts";
import type { Reporter, TaskEvent } from "../../tasks/task-events.ts";
import type { ScriptTask, TaskStep } from "../../tasks/task.ts";
import { TaskLog } from "../task-log.ts";

type StepEvent<Type extends "step-start" | "step-end"> = Extract<TaskEvent, { type: Type }>;

interface BufferedStep {
  readonly step: TaskStep;
  readonly log: TaskLog;
  readonly start: StepEvent<"step-start"> | undefined;
  end?: StepEvent<"step-end">;
}

export function createGroupedReporter(inner: Reporter, shown: "all" | "failed"): Reporter {
  const buffered = new Map<ScriptTask, BufferedStep[]>();
  let isComplete = true;
  let releasing: Promise<void> = Promise.resolve();

  function addStep(task: ScriptTask, step: TaskStep, start?: StepEvent<"step-start">): BufferedStep {
    const added = { step, start, log: new TaskLog({ whenFull: "drop" }) };
    const steps = buffered.get(task);
    if (steps) steps.push(added);
    else buffered.set(task, [added]);
    return added;
  }

  function stepOf(task: ScriptTask, step: TaskStep): BufferedStep {
    return buffered.get(task)?.findLast((each) => each.step === step) ?? addStep(task, step);
  }

  function discard(task: ScriptTask): void {
    for (const { log } of buffered.get(task) ?? []) log.discard();
    buffered.delete(task);
  }

  async function release(
    steps: readonly BufferedStep[],
    end: Extract<TaskEvent, { type: "task-end" }>,
  ): Promise<void> {
    const { task } = end;
    for (const { step, log, start, end: stepEnd } of steps) {
      if (start) void inner.report(start);
      if (!log.isWhole) isComplete = false;
      for (const bytes of log.take())
        await inner.report({ type: "output", task, step, bytes, isError: false });
      if (stepEnd) void inner.report(stepEnd);
    }
    await inner.report(end);
  }

  return {
    report(event: TaskEvent): void | Promise<void> {
      switch (event.type) {
        case "step-start":
          return void addStep(event.task, event.step, event);
        case "output":
          return stepOf(event.task, event.step).log.append(event.bytes);
        case "step-end":
          stepOf(event.task, event.step).end = event;
          return;
        case "task-end": {
          if (shown === "failed" && !isFailure(event.outcome)) return discard(event.task);
          const steps = buffered.get(event.task) ?? [];
          buffered.delete(event.task);
          return (releasing = releasing.then(() => release(steps, event)));
        }
        case "again":
          for (const task of event.tasks) discard(task);
          return inner.report(event);
        case "ready":
          return shown === "failed" ? undefined : inner.report(event);
        case "notice":
        case "remark":
        case "interrupt":
        case "suspend":
        case "resume":
          return inner.report(event);
      }
    },
    async finish() {
      await releasing;
      return (await inner.finish()) !== false && isComplete;
    },
  };
}
