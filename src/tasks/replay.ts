// What a task has written before, told again as if it had run: that of a hit of the cache, or of another machine of a
// shared run, also where it failed there.
//
// Invariants: values of this run's secrets are redacted, since the run that wrote the output may not have had them.
import type { Teller } from "./elsewhere.ts";
import type { Turn } from "./share/turns.ts";
import type { CachedHit, Command, Outcome, Task } from "./task.ts";

interface Told extends Pick<CachedHit, "pieces"> {
  /** Milliseconds. */
  readonly saved?: number;
  readonly machine?: string;
}

export async function replay(
  task: Task,
  told: Told,
  redact: Command["redact"],
  teller: Teller,
): Promise<void> {
  await replaySteps(task, told, redact, teller, undefined);
}

export async function replayFailure(
  task: Task,
  { code, step, pieces }: NonNullable<Turn["failure"]>,
  redact: Command["redact"],
  teller: Teller,
): Promise<Outcome> {
  const last = Math.min(step, task.steps.length - 1);
  await replaySteps(task, { pieces }, redact, teller, { last, code });
  return { kind: "failure", code, step: task.steps[last]! };
}

async function replaySteps(
  task: Task,
  { pieces, saved, machine }: Told,
  redact: Command["redact"],
  teller: Teller,
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
