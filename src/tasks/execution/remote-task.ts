// Runs one task on a remote server and emits the events of a local run: its steps start, write and end.
//
// Invariants:
// - Output arrives when the task has ended: of each step first stdout, then stderr.
// - Secret values are redacted, as in local output.
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

/** @throws ResourceExhausted if the server has no capacity @throws UserError that concerns the whole run */
export async function runRemoteTask(
  task: ScriptTask,
  remote: RemoteRun,
  redact: SpawnCommand["redact"],
  sink: TaskEventSink,
): Promise<{ readonly outcome: TaskOutcome; readonly machine?: string }> {
  const now = () => sink.now();
  const emit = (event: TaskEvent) => sink.emit(event);
  const begin = now();
  const first = task.steps[0]!;
  const result = await remote.run(
    task,
    () => void emit({ type: "step-start", task, step: first, at: now() }),
  );
  if (result === "stopped") return { outcome: { kind: "stopped", wasRunning: true } };
  if ("refused" in result)
    throw new ResourceExhausted("no room", "RESOURCE_EXHAUSTED", { cause: result.refused });
  for (const message of result.warnings) void emit({ type: "notice", message });
  const outcome = await emitSteps(result);
  return { outcome, ...(result.machine !== undefined && { machine: result.machine }) };

  async function emitSteps({ code, logs, saved }: RemoteResult): Promise<TaskOutcome> {
    const savedTime = saved !== undefined && { saved };
    for (const [index, { stdout, stderr }] of logs.entries()) {
      const step = task.steps[index]!;
      const isLast = index === logs.length - 1;
      if (index > 0) await emit({ type: "step-start", task, step, at: now() });
      await deliver(step, stdout, false);
      await deliver(step, stderr, true);
      const exit: ChildExit = { code: isLast ? code : 0, signal: null };
      // The server reports no duration for each step, so the last one gets the total.
      const duration = isLast ? now() - begin : 0;
      await emit({ type: "step-end", task, step, exit, at: now(), duration, ...(step.isMain && savedTime) });
      if (isLast && code !== 0) return { kind: "failure", code, step };
    }
    return { kind: "success", ...savedTime };
  }

  async function deliver(step: TaskStep, bytes: Uint8Array, isError: boolean): Promise<void> {
    if (bytes.length === 0) return;
    const write = (shown: Uint8Array) => emit({ type: "output", task, step, bytes: shown, isError });
    const redacted: RedactedOutput | undefined = redact?.(write);
    await (redacted ? redacted.push(bytes, isError) : write(bytes));
    await redacted?.end();
  }
}
