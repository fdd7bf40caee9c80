import { describe, expect, test } from "bun:test";
import { ConcurrencyLimiter } from "../../src/tasks/execution/concurrency-limiter.ts";
import { type FailurePolicy, ResourceExhausted, startSchedule } from "../../src/tasks/execution/schedule.ts";
import type { TaskStep, ScriptTask, TaskOutcome } from "../../src/tasks/task.ts";

const step: TaskStep = { scriptName: "t", command: "", isMain: true };
const failed: TaskOutcome = { kind: "failure", code: 1, step };
const success: TaskOutcome = { kind: "success" };

/** A run whose tasks end when the test says so. */
function createRun(
  waitsFor: number[][],
  limit: number,
  onFailure: FailurePolicy = "skip",
  remoteTasks: { limit: number; tasks: readonly number[] } = { limit: 0, tasks: [] },
) {
  const tasks = waitsFor.map((_, index): ScriptTask => ({
    index,
    packageName: "",
    packageDirectory: "",
    manifest: {},
    scriptName: "t",
    label: `t${index}`,
    steps: [step],
    args: [],
  }));
  const running = new Map<number, PromiseWithResolvers<TaskOutcome>>();
  const log: string[] = [];
  const schedule = startSchedule({
    tasks,
    waitsFor,
    limit,
    remoteTasks: { limit: remoteTasks.limit, has: ({ index }) => remoteTasks.tasks.includes(index) },
    onFailure,
    run({ index }) {
      log.push(`start ${index}`);
      const ending = Promise.withResolvers<TaskOutcome>();
      running.set(index, ending);
      return ending.promise;
    },
    settle: ({ index }, { kind }) => void log.push(`${kind} ${index}`),
    stop: () => void log.push("stop"),
  });
  const end = async (index: number, outcome: TaskOutcome = success) => {
    running.get(index)!.resolve(outcome);
    running.delete(index);
    for (let turn = 0; turn < 5; turn++) await null;
  };
  const refuse = async (index: number, cause?: Error) => {
    running.get(index)!.reject(new ResourceExhausted("no more", "EMFILE", { cause }));
    running.delete(index);
    for (let turn = 0; turn < 5; turn++) await null;
  };
  return { tasks, log, end, refuse, running: () => [...running.keys()], schedule };
}

describe("startSchedule()", () => {
  test("gives those that run remoteTasks places of their own", async () => {
    const run = createRun([[], [], [], [], [1]], 1, "skip", { limit: 2, tasks: [1, 2, 3] });
    expect(run.running()).toEqual([0, 1, 2]);
    await run.end(1);
    expect(run.running()).toEqual([0, 2, 3]);
    await run.end(0);
    expect(run.running()).toEqual([2, 3, 4]);
    for (const index of [2, 3, 4]) await run.end(index);
    expect(await run.schedule.finished).toBeNull();
  });

  test("gives them as many as there is room for, and says why there is none", async () => {
    const run = createRun([[], [], [], []], 1, "skip", { limit: 3, tasks: [1, 2, 3] });
    expect(run.running()).toEqual([0, 1, 2, 3]);
    await run.refuse(1);
    await run.refuse(2);
    expect(run.running()).toEqual([0, 3]);
    await run.end(3);
    expect(run.running()).toEqual([0, 1]);
    await run.refuse(1, new Error("the server has no room"));
    await expect(run.schedule.finished).rejects.toThrow("the server has no room");
  });

  test("starts in order, never more than the limit", async () => {
    const run = createRun([[], [], [], []], 2);
    expect(run.running()).toEqual([0, 1]);
    await run.end(1);
    expect(run.running()).toEqual([0, 2]);
    await run.end(0);
    await run.end(2);
    await run.end(3);
    expect(await run.schedule.finished).toBeNull();
  });

  test("prefers what comes first in the plan when several could start", async () => {
    const run = createRun([[], [0], [], []], 1);
    await run.end(0);
    expect(run.log).toEqual(["start 0", "start 1"]);
  });

  test("starts what has become ready after what was ready and comes first in the plan", async () => {
    const run = createRun([[], [], [0], [0], []], 1);
    for (const index of [0, 1, 2, 3]) await run.end(index);
    expect(run.log).toEqual([0, 1, 2, 3, 4].map((index) => `start ${index}`));
  });

  test("tells what runs once to stop, however much of it fails", async () => {
    const run = createRun([[], [], []], 3, "stop");
    await run.end(0, failed);
    await run.end(1, { ...failed, code: 2 });
    await run.end(2, { kind: "stopped", wasRunning: true });
    expect(run.log.filter((line) => line === "stop")).toEqual(["stop"]);
    expect((await run.schedule.finished)?.task.index).toBe(0);
  });

  test("halted, has no failure of what was stopped, and starts nothing", async () => {
    const run = createRun([[], []], 1);
    run.schedule.halt();
    await run.end(0, { kind: "stopped", wasRunning: true });
    expect(run.log).toEqual(["start 0", "stopped 1"]);
    expect(await run.schedule.finished).toBeNull();
  });

  test("skips everything behind a failure, once, and runs the rest", async () => {
    const run = createRun([[], [0], [0], [1, 2], []], 1);
    await run.end(0, failed);
    expect(run.log).toEqual(["start 0", "skipped 1", "skipped 2", "skipped 3", "start 4"]);
    await run.end(4, { ...failed, code: 9 });
    expect((await run.schedule.finished)?.task.index).toBe(0);
  });

  test("stops at a failure, and the code is that of the first", async () => {
    const run = createRun([[], [], []], 2, "stop");
    await run.end(1, failed);
    expect(run.log).toEqual(["start 0", "start 1", "stop"]);
    await run.end(0, { kind: "stopped", wasRunning: true });
    expect(run.log.at(-1)).toBe("stopped 2");
    expect((await run.schedule.finished)?.task.index).toBe(1);
  });

  test("goes on after a failure when told to", async () => {
    const run = createRun([[], [0]], 2, "continue");
    await run.end(0, failed);
    expect(run.running()).toEqual([1]);
    await run.end(1);
    expect((await run.schedule.finished)?.task.index).toBe(0);
  });

  test("tries again with a lower limit when the system refuses a process", async () => {
    const run = createRun([[], [], [], []], 4);
    await run.refuse(3);
    expect(run.log).toEqual(["start 0", "start 1", "start 2", "start 3"]);
    await run.end(0);
    expect(run.log.at(-1)).toBe("start 3");
  });

  test("fails when the system refuses the only process", async () => {
    const run = createRun([[]], 1);
    run.schedule.finished.catch(() => {});
    await run.refuse(0);
    expect(run.schedule.finished).rejects.toThrow("no more");
  });

  test("runs what is asked for again with all that waits for it, in order, and leaves the rest", async () => {
    const run = createRun([[], [0], [1], []], 4);
    await run.end(0);
    await run.end(1);
    expect(run.running()).toEqual([3, 2]);
    // What has yet to begin, or is ending already, is not asked for twice.
    const reached = run.schedule.reach([run.tasks[0]!]);
    expect(reached.map(({ index }) => index)).toEqual([0, 1, 2]);
    run.schedule.again(reached);
    expect(run.schedule.reach([run.tasks[0]!])).toEqual([run.tasks[0]!]);
    expect(run.log.slice(4)).toEqual(["start 0"]);
    await run.end(2, { kind: "stopped", wasRunning: true });
    await run.end(0);
    await run.end(1);
    expect(run.log.slice(4)).toEqual(["start 0", "start 1", "start 2"]);
    await run.end(2);
    expect(run.schedule.isIdle).toBe(false);
    await run.end(3);
    expect(await run.schedule.finished).toBeNull();
    expect(run.schedule.isIdle).toBe(true);
  });

  test("asked again, has the failures of the new round alone, and tries those that kept it from running", async () => {
    const run = createRun([[], [0], [], [2]], 4);
    await run.end(0, failed);
    await run.end(2);
    await run.end(3);
    expect((await run.schedule.finished)?.task.index).toBe(0);
    const reached = run.schedule.reach([run.tasks[1]!]);
    expect(reached.map(({ index }) => index)).toEqual([0, 1]);
    run.schedule.again(reached);
    await run.end(0);
    await run.end(1);
    expect(await run.schedule.finished).toBeNull();
    expect(run.log.slice(-2)).toEqual(["start 0", "start 1"]);
  });

  test("asked again after a failure that stopped it, goes on with what was stopped", async () => {
    const run = createRun([[], [], []], 1, "stop");
    await run.end(0, failed);
    await run.schedule.finished;
    run.schedule.again(run.schedule.reach([run.tasks[0]!]));
    for (const index of [0, 1, 2]) await run.end(index);
    expect(run.log.slice(-3)).toEqual(["start 0", "start 1", "start 2"]);
    expect(await run.schedule.finished).toBeNull();
  });

  test("halted, starts nothing again", async () => {
    const run = createRun([[]], 1);
    run.schedule.again(run.schedule.reach([run.tasks[0]!]));
    run.schedule.halt();
    await run.end(0, { kind: "stopped", wasRunning: true });
    run.schedule.again(run.tasks);
    expect(run.log).toEqual(["start 0"]);
    expect(await run.schedule.finished).toBeNull();
  });

  test("ends at once when there is nothing to do", async () => {
    expect(await createRun([], 1).schedule.finished).toBeNull();
  });
});

test("a lane takes what matters most first, and a job that fails leaves its place", async () => {
  const lane = new ConcurrencyLimiter(1);
  const order: number[] = [];
  const jobs = [1, 3, 2, 3].map((rank, index) =>
    lane.run(rank, async () => {
      order.push(index);
      if (index === 1) throw new Error("failed");
    }),
  );
  const ends = (await Promise.allSettled(jobs)).map(({ status }) => status);
  expect(ends).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
  expect(order).toEqual([1, 3, 2, 0]);
});
