// The `timeout` of a task: it begins with the first step, and ends the task's process trees.
import type { ScriptTask, TaskOutcome, TaskStep } from "../task.ts";

/** The exit code of timeout(1). */
const TIMEOUT_CODE = 124;

export interface TimeoutTimer {
  /** Set after the timeout; resolves when the process trees have ended. */
  readonly ended: Promise<void> | undefined;
  /** Has an effect once: at the first step, when its secrets have been read. */
  start(): void;
  clear(): void;
  /** The outcome after the timeout. */
  failureOf(step: TaskStep): TaskOutcome;
}

/** @param expire ends the process trees; returns undefined if the task is being ended already */
export function createTimeout(
  { rule }: ScriptTask,
  expire: () => Promise<void> | undefined,
): TimeoutTimer | undefined {
  const timeout = rule?.timeout;
  if (!timeout) return undefined;
  let ended: Promise<void> | undefined;
  let handle: Timer | undefined;
  return {
    get ended() {
      return ended;
    },
    start() {
      handle ??= setTimeout(() => {
        ended = expire();
      }, timeout.milliseconds);
    },
    clear() {
      clearTimeout(handle);
    },
    failureOf: (step) => ({ kind: "failure", code: TIMEOUT_CODE, step, timeout: timeout.text }),
  };
}
