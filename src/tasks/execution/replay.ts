// Replays a task's recorded output as if it had run: of a cache hit, or of another machine in a shared run.
//
// Invariants: values of this run's secrets are redacted, because the run that wrote the output may not have had
// them.
import type { TaskEventSink } from "./remote-task.ts";
import type { LeaseOutcome } from "../leases/lease-scheduler.ts";
import type { CacheHit } from "../../cache/cached-script.ts";
import type { SpawnCommand, TaskOutcome, ScriptTask } from "../task.ts";

interface ReplaySource extends Pick<CacheHit, "pieces"> {
  /** Milliseconds. */
  readonly saved?: number;
  readonly machine?: string;
}

export async function replay(
  task: ScriptTask,
  source: ReplaySource,
  redact: SpawnCommand["redact"],
  sink: TaskEventSink,
): Promise<void> {
  await replaySteps(task, source, redact, sink, undefined);
}

export async function replayFailure(
  task: ScriptTask,
  { code, step, pieces }: NonNullable<LeaseOutcome["failure"]>,
  redact: SpawnCommand["redact"],
  sink: TaskEventSink,
): Promise<TaskOutcome> {
  const last = Math.min(step, task.steps.length - 1);
  await replaySteps(task, { pieces }, redact, sink, { last, code });
  return { kind: "failure", code, step: task.steps[last]! };
}

async function replaySteps(
  task: ScriptTask,
  { pieces, saved, machine }: ReplaySource,
  redact: SpawnCommand["redact"],
  sink: TaskEventSink,
  failure: { readonly last: number; readonly code: number } | undefined,
): Promise<void> {
  for (const [index, step] of task.steps.slice(0, failure && failure.last + 1).entries()) {
    const at = sink.now();
    await sink.emit({ type: "step-start", task, step, at });
    const show = (bytes: Uint8Array, isError: boolean) =>
      sink.emit({ type: "output", task, step, bytes, isError });
    // One stream for all chunks, because a secret value may be split between two of them.
    const redacted = redact?.(show);
    for (const { bytes, isError } of pieces.filter((piece) => piece.step === index))
      await (redacted?.push ?? show)(bytes, isError);
    await redacted?.end();
    const exit = { code: index === failure?.last ? failure.code : 0, signal: null };
    const details = step.isMain &&
      saved !== undefined && { saved, ...(machine !== undefined && { machine }) };
    await sink.emit({ type: "step-end", task, step, exit, at, duration: 0, ...details });
  }
}
