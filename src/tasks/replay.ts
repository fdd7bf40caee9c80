// What a task has written before, told again as if it had run: that of a hit of the cache, or of another machine of a
// shared run, also where it failed there.
import type { Teller } from "./elsewhere.ts";
import type { Turn } from "./share/turns.ts";
import type { CachedHit, Outcome, Task } from "./task.ts";

interface Told extends Pick<CachedHit, "pieces"> {
  /** Milliseconds. */
  readonly saved?: number;
  readonly machine?: string;
}

export async function replay(task: Task, told: Told, teller: Teller): Promise<void> {
  await replaySteps(task, told, teller, undefined);
}

export async function replayFailure(
  task: Task,
  { code, step, pieces }: NonNullable<Turn["failure"]>,
  teller: Teller,
): Promise<Outcome> {
  const last = Math.min(step, task.steps.length - 1);
  await replaySteps(task, { pieces }, teller, { last, code });
  return { kind: "failure", code, step: task.steps[last]! };
}

async function replaySteps(
  task: Task,
  { pieces, saved, machine }: Told,
  teller: Teller,
  failure: { readonly last: number; readonly code: number } | undefined,
): Promise<void> {
  for (const [index, step] of task.steps.slice(0, failure && failure.last + 1).entries()) {
    const at = teller.now();
    await teller.emit({ type: "step-start", task, step, at });
    for (const { bytes, isError } of pieces.filter((piece) => piece.step === index))
      await teller.emit({ type: "output", task, step, bytes, isError });
    const exit = { code: index === failure?.last ? failure.code : 0, signal: null };
    const more = step.isMain && saved !== undefined && { saved, ...(machine !== undefined && { machine }) };
    await teller.emit({ type: "step-end", task, step, exit, at, duration: 0, ...more });
  }
}
