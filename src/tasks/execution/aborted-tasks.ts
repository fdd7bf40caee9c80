// Ends running tasks whose service has ended.
import type { Child } from "../../../platform/processes/contract/process-tree.ts";
import { trees } from "../../../platform/processes/process-tree.ts";
import type { ScriptTask, TaskOutcome } from "../task.ts";
import { awaitEnd, processTreeIdOf } from "./watched-process-trees.ts";

interface Abortion {
  readonly service: ScriptTask;
  readonly ended: Promise<void>;
}

export class AbortedTasks {
  readonly #abortions = new Map<ScriptTask, Abortion>();

  has(task: ScriptTask): boolean {
    return this.#abortions.has(task);
  }

  /** Ends the trees of a task's children. Returns at once. */
  end(task: ScriptTask, service: ScriptTask, children: readonly Child[]): void {
    const families = [processTreeIdOf(task)];
    trees.signalTrees(children, "SIGTERM", families);
    this.#abortions.set(task, { service, ended: awaitEnd(children, families) });
  }

  /** Returns the outcome of a task after its end, and waits for its trees if they were ended. */
  async settle(task: ScriptTask, outcome: TaskOutcome): Promise<TaskOutcome> {
    const abortion = this.#abortions.get(task);
    if (!abortion) return outcome;
    await abortion.ended;
    this.#abortions.delete(task);
    if (outcome.kind === "success" && !outcome.isStopped) return outcome;
    return { kind: "stopped", wasRunning: true, because: abortion.service };
  }
}
