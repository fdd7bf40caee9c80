// What a task has written before, told again as if it had run: that of a hit of the cache, or of another machine of a
// shared run, also where it failed there.
//
// Invariants: values of this run's secrets are redacted, since the run that wrote the output may not have had them.
import type { TaskEventSink } from "./remote-task.ts";
import type { LeaseOutcome } from "../leases/lease-scheduler.ts";
import type { CachedHit, SpawnCommand, TaskOutcome, ScriptTask } from "../task.ts";

interface ReplaySource extends Pick<CachedHit, "pieces"> {
  /** Milliseconds. */
  readonly saved?: number;
  readonly machine?: string;
}

export async function replay(
  task: ScriptTask,
  told: ReplaySource,
  redact: SpawnCommand["redact"],
  teller: TaskEventSink,
): Promise<void> {
  await replaySteps(task, told, redact, teller, undefined);
}

export async function replayFailure(
  task: ScriptTask,
  { code, step, pieces }: NonNullable<LeaseOutcome["failure"]>,
  redact: SpawnCommand["redact"],
  teller: TaskEventSink,
): Promise<TaskOutcome> {
  const last = Math.min(step, task.steps.length - 1);
  await replaySteps(task, { pieces }, redact, teller, { last, code });
  return { kind: "failure", code, step: task.steps[last]! };
}

async function replaySteps(
  task: ScriptTask,
  { pieces, saved, machine }: ReplaySource,
  redact: SpawnCommand["redact"],
  teller: TaskEventSink,
  failure: { readonly last: number; readonly code: number } | undefined,
): Promise<void> {
  for (const [index, step] of task.steps.slice(0, failure && failure.last + 1).entries()) {
    const at = teller.now();
    await teller.emit({ type: "step-start", task, step, at });
    const show = (bytes: Uint8Array, isError: boolean) =>
      teller.emit({ type: "output", task, step, bytes, isError });
    // One stream for all pieces: a value may be cut between two of them.
    const redacted = redact?.(show);
    for (const { bytes, isError } of pieces.filter((piece) => piece.step === index))
      await (redacted?.push ?? show)(bytes, isError);
    await redacted?.end();
    const exit = { code: index === failure?.last ? failure.code : 0, signal: null };
    const more = step.isMain && saved !== undefined && { saved, ...(machine !== undefined && { machine }) };
    await teller.emit({ type: "step-end", task, step, exit, at, duration: 0, ...more });
  }
}
