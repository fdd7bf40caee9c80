// A task that another machine carries out, told as one that runs here: its steps begin, write and end.
//
// Contract: what it wrote comes when it has ended, of each step first what went to standard output. Values of secrets are
// kept out of it as out of everything that is shown.
import type { ChildExit } from "../../../platform/processes/contract/process-tree.ts";
import type { RedactedOutput } from "../../redaction/stream.ts";
import type { TaskEvent } from "../task-events.ts";
import { ResourceExhausted } from "./schedule.ts";
import type { SpawnCommand, TaskOutcome, TaskStep, ScriptTask } from "../task.ts";
import type { RemoteResult, RemoteRun } from "./placement.ts";

export interface TaskEventSink {
  emit(event: TaskEvent): void | Promise<void>;
  now(): number;
}

/** Rejects with Refused where there is no room now, and with a Failure that is of the whole run. */
export async function runRemoteTask(
  task: ScriptTask,
  remote: RemoteRun,
  redact: SpawnCommand["redact"],
  teller: TaskEventSink,
): Promise<{ readonly outcome: TaskOutcome; readonly machine?: string }> {
  const now = () => teller.now();
  const emit = (event: TaskEvent) => teller.emit(event);
  const begin = now();
  const first = task.steps[0]!;
  const ending = await remote.run(
    task,
    () => void emit({ type: "step-start", task, step: first, at: now() }),
  );
  if (ending === "stopped") return { outcome: { kind: "stopped", wasRunning: true } };
  if ("refused" in ending)
    throw new ResourceExhausted("no room", "RESOURCE_EXHAUSTED", { cause: ending.refused });
  for (const message of ending.warnings) void emit({ type: "notice", message });
  const outcome = await tell(ending);
  return { outcome, ...(ending.machine !== undefined && { machine: ending.machine }) };

  async function tell({ code, logs, saved }: RemoteResult): Promise<TaskOutcome> {
    const isKnown = saved !== undefined && { saved };
    for (const [index, { stdout, stderr }] of logs.entries()) {
      const step = task.steps[index]!;
      const isLast = index === logs.length - 1;
      if (index > 0) await emit({ type: "step-start", task, step, at: now() });
      await deliver(step, stdout, false);
      await deliver(step, stderr, true);
      const exit: ChildExit = { code: isLast ? code : 0, signal: null };
      // How long each of them took is not told; what counts is the whole.
      const duration = isLast ? now() - begin : 0;
      await emit({ type: "step-end", task, step, exit, at: now(), duration, ...(step.isMain && isKnown) });
      if (isLast && code !== 0) return { kind: "failure", code, step };
    }
    return { kind: "success", ...isKnown };
  }

  async function deliver(step: TaskStep, bytes: Uint8Array, isError: boolean): Promise<void> {
    if (bytes.length === 0) return;
    const write = (shown: Uint8Array) => emit({ type: "output", task, step, bytes: shown, isError });
    const redacted: RedactedOutput | undefined = redact?.(write);
    await (redacted ? redacted.push(bytes, isError) : write(bytes));
    await redacted?.end();
  }
}
