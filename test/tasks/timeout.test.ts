// The timer of a task's `timeout`, in one process.
import { expect, test } from "bun:test";
import { createTimeout } from "../../src/tasks/execution/timeout.ts";
import type { ScriptTask } from "../../src/tasks/task.ts";

const task = { rule: { timeout: { text: "1ms", milliseconds: 1 } } } as ScriptTask;

/** Resolves after all timers of a millisecond that were started before. */
const laterTimer = () => new Promise<void>((resolve) => setTimeout(resolve, 2));

test("a timeout that was cleared, as after a failed attempt, ends no process of the next one", async () => {
  let expired = 0;
  const expire = () => {
    expired += 1;
    return undefined;
  };
  const first = createTimeout(task, expire)!;
  first.start();
  first.clear();
  await laterTimer();
  expect(expired).toBe(0);
  const second = createTimeout(task, expire)!;
  second.start();
  second.start();
  await laterTimer();
  expect(expired).toBe(1);
});
